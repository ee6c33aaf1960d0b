//go:build e2e

package test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// httpClient trusts any certificate, and shows redirects instead of following them.
var httpClient = &http.Client{
	Timeout: 30 * time.Second,
	Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		ForceAttemptHTTP2: true,
	},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// request sends a request as the organization that acts, and shows its answer as curl -i
// would. Another status than the wanted one is an error.
func request(_ *world, ts *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 3, 4); err != nil {
		return err
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		return permanent{err}
	}
	answer, err := send(ts, args[1], args[2], args[3:])
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var shown bytes.Buffer
	fmt.Fprintf(&shown, "%s %s\n", answer.Proto, answer.Status)
	answer.Header.Write(&shown)
	fmt.Fprintln(&shown)
	if _, err := io.Copy(&shown, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != want {
		return fmt.Errorf("want status %d, got\n%s", want, &shown)
	}
	_, err = shown.WriteTo(ts.Stdout())
	return err
}

func send(ts *testscript.TestScript, method, path string, file []string) (*http.Response, error) {
	var body io.Reader
	if len(file) > 0 {
		content, err := os.ReadFile(ts.MkAbs(file[0]))
		if err != nil {
			return nil, permanent{err}
		}
		body = bytes.NewReader(content)
	}
	r, err := http.NewRequest(method, ts.Getenv("SERVER")+path, body)
	if err != nil {
		return nil, permanent{err}
	}
	r.SetBasicAuth(ts.Getenv("ORG"), ts.Getenv("TF_HTTP_PASSWORD"))
	return httpClient.Do(r)
}
