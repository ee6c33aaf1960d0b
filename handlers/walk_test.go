package handlers_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/handlers"
)

// routes are all that the router has, with parameters filled in.
func routes(t *testing.T, deps handlers.Deps) []string {
	t.Helper()
	router, err := handlers.NewRouter(deps)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, route := range router.Routes() {
		path := strings.NewReplacer(":project", "x", ":name", "x",
			":enclave", "e", ":partition", "p", ":alias", "e", ":serial", "1",
			":version", "1", ":id", "0123456789abcdef", ":key", "k", ":snapshot", "1", ":digest", wireDigest, ":path", "main.tf",
			":pool", "x", ":bundle", "x",
			":provider", "github", ":repository", "x", ":number",
			"7", ":session", "0123456789abcdef", "/keys/:key", "/keys/ci", ":organization",
			"11111111-1111-4111-8111-111111111111").Replace(route.Path)
		path = strings.Replace(path, "/runs/0123456789abcdef", "/runs/"+noRun, 1)
		path = strings.Replace(path, "/api/v1/events", "/api/v1/events?after=none", 1) // else it goes on
		list = append(list, route.Method+" "+path)
	}
	return list
}

// inNative returns the native address of a state of acme's.
func inNative(path string) string {
	return strings.NewReplacer("/terraform/state/e/", "/api/v1/state/e/", "/api/v4/projects/42/terraform/state/",
		"/api/v1/state/",
		"/api/packages/77/terraform/state/", "/api/v1/state/shop/").Replace(path)
}

// public routes tell nothing about tenants.
func public(route string) bool {
	switch strings.Replace(route, "HEAD ", "GET ", 1) {
	case "GET /", "GET /health", "GET /livez", "GET /readyz", "GET /metrics", "GET /api/openapi.json", "GET /api/docs",
		"GET /ui", "GET /ui/*path",
		"POST /webhooks/github/x",
		"POST /api/v1/session", "GET /api/v1/session/ways", "GET /api/v1/session/oidc", "GET /api/v1/session/oidc/callback":
		return true
	}
	return false
}

// Every route, called as a stranger, with wrong credentials, and as another tenant.
func TestEveryRouteIsGuarded(t *testing.T) {
	deps := testDeps(t)
	server := startServer(t, deps)
	owner := newCaller(t, server, acme, acmeKey)
	states := []string{"/api/v1/state/x", "/terraform/state/e/p", "/api/v4/projects/42/terraform/state/y",
		"/api/packages/77/terraform/state/y"}
	for _, path := range states {
		if got := owner.do("POST "+path, body(1)); got.status/100 != 2 {
			t.Fatalf("%s: %d %s", path, got.status, got.body)
		}
		owner.converse([]step{{"LOCK " + inNative(path), infoA, 200, ""}})
	}
	owner.converse([]step{{"POST /upload", oneUpload("ada@engine"), 200, ""}})
	strangers := map[string]caller{
		"nobody":              {},
		"wrong key":           {user: acme.String(), key: globexKey},
		"unknown org":         {user: uuid.NewString(), key: acmeKey},
		"org that is no UUID": {user: "acme", key: acmeKey},
		"empty key":           {user: acme.String()},
	}
	unknown := []string{"GET /api/v1/nothing", "GET /api", "PATCH /api/v1/state/x", "GET /terraform/state/x",
		"GET /upload", "POST /upload/x", "GET /api/v1/data/x", "BREW /terraform/state/e/p"}
	for _, route := range append(routes(t, deps), unknown...) {
		if public(route) {
			continue
		}
		for who, stranger := range strangers {
			stranger.t, stranger.url, stranger.client = t, server.URL, owner.client
			got := stranger.do(route, infoB)
			challenge := "Basic "
			if strings.Contains(route, "/api/v1/session") {
				challenge = "Session " // so that no browser asks for a password
			}
			if got.status != http.StatusUnauthorized || !strings.HasPrefix(got.header.Get("WWW-Authenticate"), challenge) {
				t.Errorf("%s as %s: %d, WWW-Authenticate %q; want 401 and "+challenge, route, who, got.status,
					got.header.Get("WWW-Authenticate"))
			}
		}
		other := newCaller(t, server, globex, globexKey)
		if got := other.do(route, infoB); strings.Contains(got.body, "ada@engine") ||
			strings.Contains(got.body, `lineage":"5ad8`) {
			t.Errorf("%s as another tenant shows the first one's state, lock or upload: %s", route, got.body)
		}
	}
	for _, path := range states {
		owner.converse([]step{{"GET " + path, "", 200, "=" + body(1)}, {"LOCK " + inNative(path), infoB, 409, "=" + infoA}})
	}
}

// No spelling of any path is redirected: a client would turn its POST into a GET.
func TestNothingRedirects(t *testing.T) {
	deps := testDeps(t)
	server := startServer(t, deps)
	c := newCaller(t, server, acme, acmeKey)
	for _, route := range routes(t, deps) {
		method, path, _ := strings.Cut(route, " ")
		for _, variant := range []string{path, path + "/", path + "//", "/" + path, strings.ToUpper(path),
			strings.Replace(path, "/", "//", 2), path + "/.", path + "/..", "/." + path, "/x/.." + path, path + "?ID=a-1", path +
				"%2F"} {
			got := c.do(method+" "+variant, infoA)
			if got.status/100 == 3 || got.header.Get("Location") != "" {
				t.Errorf("%s %s: %d to %q", method, variant, got.status, got.header.Get("Location"))
			}
			if got.status == http.StatusNotFound && variant != path && variant != path+"?ID=a-1" {
				t.Errorf("%s %s: 404, which a client takes for an empty state", method, variant)
			}
		}
	}
}
