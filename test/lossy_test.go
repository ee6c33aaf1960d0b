//go:build e2e

package test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// loseAnswers puts a proxy before the server. The first request of each method reaches
// the server, which answers it; the client sees the connection break instead.
func loseAnswers(w *world, ts *testscript.TestScript, _ []string) error {
	target, err := url.Parse(w.server.url)
	if err != nil {
		return err
	}
	var lost sync.Map
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(answer *http.Response) error {
			if _, before := lost.LoadOrStore(answer.Request.Method, true); !before {
				panic(http.ErrAbortHandler)
			}
			return nil
		},
		ErrorLog: log.New(io.Discard, "", 0),
	}
	front := httptest.NewServer(proxy)
	ts.Defer(front.Close)
	ts.Setenv("SERVER", front.URL)
	return nil
}
