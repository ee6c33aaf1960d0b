package bench_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
)

// compressing compresses every answer to a GET that accepts it, and lets change have a
// look.
func compressing(handler http.Handler, change func([]byte) []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.Header.Get("Accept-Encoding") != "gzip" {
			handler.ServeHTTP(w, r)
			return
		}
		r.Header.Del("Accept-Encoding")
		plain := httptest.NewRecorder()
		handler.ServeHTTP(plain, r)
		var packed bytes.Buffer
		out := gzip.NewWriter(&packed)
		_, _ = plain.Body.WriteTo(out)
		_ = out.Close()
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(plain.Code)
		_, _ = w.Write(change(packed.Bytes()))
	})
}
