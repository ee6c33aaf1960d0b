package handlers_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/links"
)

const document = "<!doctype html><script type=module src=/ui/assets/index-4f2a.js></script>"

func testPage() fstest.MapFS {
	script := []byte(strings.Repeat("console.log('state');\n", 200))
	return fstest.MapFS{
		".built":                    {},
		"index.html":                {Data: []byte(document)},
		"favicon.svg":               {Data: []byte("<svg/>")},
		"assets/index-4f2a.js":      {Data: script},
		"assets/editor-77aa.css":    {Data: script},
		"assets/editor-77aa.css.br": {Data: []byte("brotli")},
		"assets/face-01.woff2":      {Data: script},
	}
}

// servedPage asks a server that has the page, as it was asked and without following anywhere.
func servedPage(t *testing.T, withPage bool) func(method, path string, headers ...string) *http.Response {
	t.Helper()
	deps := testDeps(t)
	if withPage {
		deps.Page = testPage()
	}
	return asking(t, deps)
}

func asking(t *testing.T, deps handlers.Deps) func(method, path string, headers ...string) *http.Response {
	t.Helper()
	server := startServer(t, deps)
	client := &http.Client{
		Transport:     &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(client.CloseIdleConnections)
	return func(method, path string, headers ...string) *http.Response {
		t.Helper()
		asked, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, header := range headers {
			name, value, _ := strings.Cut(header, ": ")
			asked.Header.Add(name, value)
		}
		got, err := client.Do(asked)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = got.Body.Close() })
		return got
	}
}

const browser = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

func textOf(t *testing.T, from io.Reader) string {
	t.Helper()
	text, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestPage(t *testing.T) {
	ask := servedPage(t, true)
	const immutable, again = "public, max-age=31536000, immutable", "no-cache"
	for _, test := range []struct {
		path, accept string
		status       int
		media, keep  string
	}{
		{"/ui/", browser, 200, "text/html; charset=utf-8", again},
		{"/ui/", "Accept: */*", 200, "text/html; charset=utf-8", again},
		{"/ui/states/prod%2Fnetwork", browser, 200, "text/html; charset=utf-8", again},
		{"/ui/runs/01J", browser, 200, "text/html; charset=utf-8", again},
		{"/ui/assets/index-4f2a.js", "Accept: */*", 200, "text/javascript; charset=utf-8", immutable},
		{"/ui/favicon.svg", "Accept: image/*", 200, "image/svg+xml", again},
		{"/ui/assets/gone-1111.js", browser, 400, "application/json; charset=utf-8", "no-store"},
		{"/ui/nothing.js", "Accept: */*", 400, "application/json; charset=utf-8", "no-store"},
		{"/ui/.built", "Accept: */*", 400, "application/json; charset=utf-8", "no-store"},
		{"/ui/../../etc/passwd", "Accept: */*", 400, "application/json; charset=utf-8", "no-store"},
		{"/ui/%2e%2e/web.go", "Accept: */*", 400, "application/json; charset=utf-8", "no-store"},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			got := ask(method, test.path, test.accept)
			if got.StatusCode != test.status || got.Header.Get("Content-Type") != test.media ||
				got.Header.Get("Cache-Control") != test.keep {
				t.Errorf("%s %s, %s: %d %s, %s", method, test.path, test.accept, got.StatusCode, got.Header.Get("Content-Type"),
					got.Header.Get("Cache-Control"))
			}
		}
	}
}

// TestLinksLeadSomewhere follows each address that leaves the server, as a browser and as a git server.
func TestLinksLeadSomewhere(t *testing.T) {
	ask := servedPage(t, true)
	const site = links.Site("https://holdfast.example.com")
	for _, address := range []string{
		site.Run("01JD8X6Q4ZK4T1M5S0R9V7E2WB"), site.State("prod/eu 1/net"), site.Candidates("prod/net"),
		site.Version("prod/net", 2), site.Audit("prod/net", ""), site.Audit("", "login.fail"),
	} {
		path := strings.TrimPrefix(address, string(site))
		if got := ask("GET", path, browser); got.StatusCode != http.StatusOK ||
			!strings.HasPrefix(got.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %d %s", path, got.StatusCode, got.Header.Get("Content-Type"))
		}
	}
}

// The front says what this is to who asks with a tool, and sends browsers on.
func TestFront(t *testing.T) {
	for _, withPage := range []bool{true, false} {
		ask := servedPage(t, withPage)
		for _, accept := range []string{"Accept: */*", "Accept: application/json", "X-None: 1", browser} {
			got := ask("GET", "/", accept)
			sent := got.StatusCode == 303 && got.Header.Get("Location") == "/ui/"
			line := got.StatusCode == 200 && strings.Contains(textOf(t, got.Body), "/api/v1/state/NAME")
			if wanted := withPage && accept == browser; sent != wanted || line == wanted {
				t.Errorf("with a page: %t, %s: %d %v", withPage, accept, got.StatusCode, got.Header)
			}
		}
		if got := ask("POST", "/", browser); got.StatusCode != 405 {
			t.Errorf("POST /: %d", got.StatusCode)
		}
	}
}

func TestNoPage(t *testing.T) {
	ask := servedPage(t, false)
	for _, path := range []string{"/ui", "/ui/", "/ui/states", "/ui/assets/index-4f2a.js"} {
		got := ask("GET", path, browser)
		if text := textOf(t, got.Body); got.StatusCode != 400 || !strings.Contains(text, "make web") {
			t.Errorf("%s: %d %s", path, got.StatusCode, text)
		}
	}
}

// A page that is built beside the server is there when it is whole, and the next one after it; while
// one is written, the one before it is.
func TestPageFolder(t *testing.T) {
	files, began := fstest.MapFS{}, time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	deps := testDeps(t)
	deps.PageFolder = files
	ask := asking(t, deps)
	want := func(status int, says string) {
		t.Helper()
		got := ask("GET", "/ui/", browser)
		if text := textOf(t, got.Body); got.StatusCode != status || !strings.Contains(text, says) {
			t.Errorf("%d %s, want %d %s", got.StatusCode, text, status, says)
		}
	}
	if got := ask("GET", "/", browser); got.StatusCode != 303 {
		t.Errorf("the front: %d", got.StatusCode)
	}
	if got := ask("GET", "/ui/", browser); got.Header.Get("Refresh") == "" {
		t.Error("who waits for the page does not see it come")
	}
	want(400, "half a minute")
	files[".built"] = &fstest.MapFile{ModTime: began} // of a folder without a build
	want(400, "half a minute")
	delete(files, ".built")
	files["index.html"] = &fstest.MapFile{Data: []byte("first")}
	want(400, "half a minute")
	files[".built"] = &fstest.MapFile{ModTime: began}
	want(200, "first")
	delete(files, ".built")
	files["index.html"] = &fstest.MapFile{Data: []byte("second")}
	want(200, "first")
	files[".built"] = &fstest.MapFile{ModTime: began.Add(time.Second)}
	want(200, "second")
}

// A tenant that is called as the page's corner is has its states still, and what isn't its is no
// document that a client could take for a state.
func TestPageLeavesTenantsAlone(t *testing.T) {
	deps := testDeps(t)
	deps.Page = testPage()
	own := testAliases()
	own[acme]["ui"] = ""
	deps.Aliases = own
	c := newCaller(t, startServer(t, deps), acme, acmeKey)
	c.converse([]step{
		{"POST /ui/state/network", `{"version":4,"serial":1,"lineage":"l"}`, 200, ""},
		{"GET /ui/state/network", "", 200, `"lineage":"l"`},
		{"GET /api/v1/state/network", "", 200, `"lineage":"l"`},
		{"GET /ui/state/none", "", 204, ""},
	})
	deps.Dialects = nil
	c = newCaller(t, startServer(t, deps), acme, acmeKey)
	c.converse([]step{{"GET /ui/state/network", "", 400, "route_unknown"}})
}

func TestPageIsNotSentTwice(t *testing.T) {
	ask := servedPage(t, true)
	tag := ask("GET", "/ui/", browser).Header.Get("ETag")
	for _, given := range []string{tag, strings.TrimPrefix(tag, "W/"), `"other", ` + tag, "*"} {
		if got := ask("GET", "/ui/states", browser, "If-None-Match: "+given); got.StatusCode != 304 ||
			textOf(t, got.Body) != "" {
			t.Errorf("%s: %d", given, got.StatusCode)
		}
	}
	if got := ask("GET", "/ui/", browser, `If-None-Match: "other"`); got.StatusCode != 200 || tag == "" {
		t.Errorf("%d, tag %q", got.StatusCode, tag)
	}
}

func TestPageIsCompressed(t *testing.T) {
	ask := servedPage(t, true)
	for _, test := range []struct{ path, accepts, coding string }{
		{"/ui/assets/index-4f2a.js", "gzip, br", "gzip"},
		{"/ui/assets/index-4f2a.js", "br", ""},
		{"/ui/assets/index-4f2a.js", "gzip;q=0", ""},
		{"/ui/assets/editor-77aa.css", "gzip, br", "br"},
		{"/ui/assets/editor-77aa.css", "gzip", "gzip"},
		{"/ui/assets/face-01.woff2", "gzip, br", ""},
		{"/ui/", "gzip", ""}, // too small to gain
	} {
		got := ask("GET", test.path, browser, "Accept-Encoding: "+test.accepts)
		if got.Header.Get("Content-Encoding") != test.coding || got.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s, %s: %v", test.path, test.accepts, got.Header)
		}
		if test.coding == "gzip" {
			plain, err := gzip.NewReader(got.Body)
			if err != nil {
				t.Fatal(err)
			}
			if text := textOf(t, plain); !strings.HasPrefix(text, "console.log") {
				t.Errorf("%s: %.20s", test.path, text)
			}
		}
	}
}

// What a page must not load, be framed by or leak is said on pages, and on no answer of the API.
func TestHeadersOfPages(t *testing.T) {
	ask := servedPage(t, true)
	ofPages := []string{"Content-Security-Policy", "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy",
		"Referrer-Policy", "Permissions-Policy", "X-Frame-Options"}
	for _, path := range []string{"/ui/", "/ui/states/x", "/ui/assets/index-4f2a.js", "/ui/assets/gone.js"} {
		got := ask("GET", path, browser).Header
		for _, name := range ofPages {
			if got.Get(name) == "" {
				t.Errorf("%s has no %s", path, name)
			}
		}
		policy := got.Get("Content-Security-Policy")
		for _, wanted := range []string{
			"default-src 'none'", "script-src 'self';", "style-src 'self';", "worker-src 'self'", "base-uri 'none'",
			"frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
		} {
			if !strings.Contains(policy, wanted) {
				t.Errorf("%s: the policy lacks %s: %s", path, wanted, policy)
			}
		}
		for _, lax := range []string{"unsafe", "blob:", "*", "http:", "https:"} {
			if strings.Contains(policy, lax) {
				t.Errorf("%s: the policy has %s: %s", path, lax, policy)
			}
		}
		if got.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: no nosniff", path)
		}
	}
	for _, path := range []string{"/", "/health", "/api/v1/whoami", "/api/v1/state/x", "/nothing"} {
		got := ask("GET", path)
		for _, name := range ofPages[1:5] {
			if got.Header.Get(name) != "" {
				t.Errorf("%s has %s", path, name)
			}
		}
		if policy := got.Header.Get("Content-Security-Policy"); policy != "frame-ancestors 'none'" {
			t.Errorf("%s has the policy %q", path, policy)
		}
	}
}

// The editor of text writes styles into its document, and makes markup by policies of its own that are named: it
// needs no more than that.
func TestPolicyOfTheEditor(t *testing.T) {
	ask := servedPage(t, true)
	page := ask("GET", "/ui/files", browser).Header.Get("Content-Security-Policy")
	editor := ask("GET", "/ui/editor/prod/network", browser).Header.Get("Content-Security-Policy")
	wanted := strings.Replace(page, "style-src 'self';", "style-src 'self' 'unsafe-inline';", 1)
	wanted, _, _ = strings.Cut(wanted, "trusted-types 'none'")
	rest, ok := strings.CutPrefix(editor, wanted)
	if !ok || !strings.HasPrefix(rest, "trusted-types holdfast-workers ") || strings.ContainsAny(rest, "*;'") {
		t.Errorf("the editor's policy is %s", editor)
	}
}
