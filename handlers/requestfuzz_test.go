package handlers_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

// FuzzRequest: no request that an organization can send is answered with a fault of ours,
// a redirect, or a 404 that doesn't mean "no such state"; and what is not well is JSON
// with a code.
func FuzzRequest(f *testing.F) {
	fuzzseeds.Add(f)
	for _, seed := range []string{
		"GET /api/v1/state/prod%2Fnetwork?ID=a HTTP/1.1\r\nIf-None-Match: *\r\n\r\n",
		"POST /api/v1/state/x?unlock=true HTTP/1.1\r\nContent-Length: 12\r\n\r\n{\"serial\":1}",
		"LOCK /terraform/state/e/p HTTP/1.1\r\nContent-Length: 10\r\n\r\n{\"ID\":\"a\"}",
		"UNLOCK /api/v1/state/x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"DELETE /api/v1/state/..%2F..%2Fetc HTTP/1.1\r\n\r\n",
		"POST /upload HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08",
		"POST /api/v1/upload HTTP/1.1\r\nIdempotency-Key: \x7f\r\nContent-Length: 99\r\n\r\n{}",
		"GET /api/v1/data?cursor=x&order=desc HTTP/1.1\r\nAccept: text/csv\r\nAccept-Encoding: gzip\r\n\r\n",
		"GET /api/v1/data/latest?attr.a=b HTTP/1.0\r\nAccept: application/x-ndjson\r\nX-Request-ID: a b\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\n\r\n",
		"CONNECT a:1 HTTP/1.1\r\n\r\n",
		"GET http://elsewhere//api//v1/./state HTTP/1.1\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	// A run is one request to a server with nothing in it: all find the same in the index.
	resources := testDeps(f).Resources
	f.Fuzz(func(t *testing.T, raw []byte) {
		request, err := http.ReadRequest(bufio.NewReader(strings.NewReader(string(raw))))
		if err != nil {
			t.Skip("no request")
		}
		deps, _, _ := testDepsWithoutResources(t)
		deps.Resources = resources
		router, err := handlers.NewRouter(deps)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Org-ID", acme.String())
		request.Header.Set("X-API-Key", acmeKey)
		request.RemoteAddr = "192.0.2.1:999"
		answer := httptest.NewRecorder()
		router.ServeHTTP(answer, request)
		checkAnswer(t, request, answer)
	})
}

func checkAnswer(t *testing.T, request *http.Request, answer *httptest.ResponseRecorder) {
	if len(answer.Header().Values("X-Request-Id")) != 1 || answer.Code/100 == 3 && answer.Code != http.StatusNotModified ||
		answer.Code >= 500 {
		t.Fatalf("%s %s: %d %v %s", request.Method, request.RequestURI, answer.Code, answer.Header(), answer.Body)
	}
	if answer.Code < 400 || answer.Code == http.StatusConflict {
		return
	}
	var failure struct{ Status, Code string }
	if err := json.Unmarshal(answer.Body.Bytes(), &failure); err != nil || failure.Status != "error" ||
		failure.Code == "" {
		t.Fatalf("%s %s: %d %s", request.Method, request.RequestURI, answer.Code, answer.Body)
	}
	if (answer.Code == http.StatusNotFound) != (failure.Code == "state_not_found") {
		t.Fatalf("%s %s: %d with %s", request.Method, request.RequestURI, answer.Code, failure.Code)
	}
}
