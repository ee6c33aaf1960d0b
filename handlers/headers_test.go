package handlers_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/handlers"
)

// securityHeaders are those of every answer, over TLS or not.
func securityHeaders(overTLS bool) map[string]string {
	headers := map[string]string{
		"X-Content-Type-Options":    "nosniff",
		"Cache-Control":             "no-store",
		"Content-Security-Policy":   "frame-ancestors 'none'",
		"X-Frame-Options":           "DENY",
		"Strict-Transport-Security": "",
		"Server":                    "",
		"X-Powered-By":              "",
	}
	if overTLS {
		headers["Strict-Transport-Security"] = "max-age=31536000"
	}
	return headers
}

// Every answer of every route, to its owner and to a stranger; and those that no route
// gives.
func TestEveryAnswerHasSecurityHeaders(t *testing.T) {
	deps := testDeps(t)
	router, err := handlers.NewRouter(deps)
	if err != nil {
		t.Fatal(err)
	}
	router.GET("/panic", func(*gin.Context) { panic(secretCause) })
	all := append(routes(t, deps), "GET /", "GET /nowhere", "GET /api/v1/nothing", "PATCH /api/v1/state/x", "BREW /livez",
		"OPTIONS /api/v1/state/x", "HEAD /api/v1/state/x", "GET /api/v1/state/a%2F%2Fb", "GET /panic")
	starts := map[string]func(*httptest.Server){"plainly": (*httptest.Server).Start,
		"over TLS": (*httptest.Server).StartTLS}
	for how, start := range starts {
		server := httptest.NewUnstartedServer(router)
		start(server)
		t.Cleanup(server.Close)
		overTLS := server.TLS != nil
		owner := newCaller(t, server, acme, acmeKey)
		stranger := owner
		stranger.user = ""
		for _, route := range all {
			for who, c := range map[string]caller{"its owner": owner, "a stranger": stranger} {
				have, want := headersOf(c.do(route, body(1)).header), securityHeaders(overTLS)
				if route == "GET /api/openapi.json" || route == "GET /api/docs" {
					want["Cache-Control"] = "no-cache" // it is the same for everybody, and has a tag
				}
				if policy := have["Content-Security-Policy"]; strings.Contains(policy, "; frame-ancestors 'none'") {
					want["Content-Security-Policy"] = policy // a page's own
				}
				if diff := cmp.Diff(want, have); diff != "" {
					t.Errorf("%s %s by %s:\n%s", route, how, who, diff)
				}
			}
		}
	}
}

// headersOf returns those that securityHeaders is about, and says which come twice.
func headersOf(header http.Header) map[string]string {
	have := map[string]string{}
	for name := range maps.Keys(securityHeaders(false)) {
		have[name] = header.Get(name)
		if values := header.Values(name); len(values) > 1 {
			have[name] = "several"
		}
	}
	return have
}
