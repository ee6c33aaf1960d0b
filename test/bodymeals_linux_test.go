//go:build e2e

package test

import (
	"fmt"
	"net/url"
	"strings"
)

// meal is a request that many send at once.
type meal struct {
	method, path  string
	header, media string
	body          string
	whole         bool   // the body's end comes too
	parts         string // of takesOrder: a body of as many parts as it has room for
}

// meal is what a route of bodyRoutes is asked.
func (g *glutton) meal(ask string, use bodyUse) meal {
	route := routeOf(ask)
	method, path, _ := strings.Cut(route, " ")
	m := meal{method: method, media: "application/json", whole: true}
	m.header = fmt.Sprintf("X-Org-ID: %s\r\nX-API-Key: %s\r\n", g.me.id, g.me.key)
	if ofExecutor(route) {
		m.header = "Authorization: Bearer " + g.runs.live.Token + "\r\nX-Digest: " + strings.Repeat("0", 64) + "\r\n"
	}
	m.path = g.places(route).Replace(path)
	if _, query, _ := strings.Cut(ask, "?"); query != "" {
		m.path += "?" + query
	}
	switch {
	case strings.HasSuffix(path, "/:version/diff"):
		m.path = strings.Replace(m.path, "versions/1", "versions/2", 1)
	case strings.HasSuffix(path, "/history"):
		m.path += "?state=x"
	case use == sendsList && hasPages(route):
		m.path += "?limit=1000"
	}
	switch {
	case strings.HasSuffix(path, "/format"):
		m.body = `{"language":"hcl","text":"` + strings.Repeat("[]", formatted/2) + `"}`
	case strings.HasSuffix(ask, "(a large file)"):
		m.body = `{"paths":["` + largeFile + `"]}`
	case strings.HasSuffix(ask, "(a plan)"):
		m.body = `{"workspace":"` + largeWorkspace + `","kind":"plan"}`
	case use == takesBody:
		m.body, m.whole = g.largeRequest(path), false
	case use == takesOrder:
		m.parts, m.whole = manyParts(route), false
		m.body = strings.Repeat(" ", len(m.parts))
	case use == takesPieces:
		m.body, m.whole, m.media = string(noise(bodySize)), false, "application/octet-stream"
		if strings.HasSuffix(path, "/archive") {
			m.body, m.media = string(archiveOf(g.t, map[string]string{"a.bin": m.body[:largeFileSize]})), "application/gzip"
		}
	case use == makesBody && method == "POST":
		m.body = `{"reason":"a test","anyway":true}`
	}
	return m
}

// places are what stands in a route's path.
func (g *glutton) places(route string) *strings.Replacer {
	name, id := "x", g.candidate
	switch {
	case strings.Contains(route, "/workspaces/"):
		name = largeWorkspace
	case ofExecutor(route):
		id = g.runs.live.Run
	case strings.Contains(route, "/runs/"):
		id = g.runs.ended
	}
	kind := "plan"
	if strings.HasPrefix(route, "PUT") {
		kind = "plan_json"
	}
	return strings.NewReplacer(":name", name, ":enclave", "e", ":partition", "p", ":alias", "e", ":serial", "1",
		":version", "1", ":id", id, ":key", "k", ":address", url.PathEscape("t.n"),
		":snapshot", "2", ":path", largeFile, ":digest", strings.Repeat("0", 64), ":kind", kind, ":stream", "plan",
		":attempt", "1")
}

// ofExecutor reports whether only who executes the run may ask.
func ofExecutor(route string) bool {
	for _, part := range []string{"/:id/lease", "/:id/phase", "/log/:stream", "/artefacts/", "/:id/configuration"} {
		if strings.Contains(route, part) {
			return true
		}
	}
	return false
}

// hasPages reports whether a list is read page by page.
func hasPages(route string) bool {
	for _, end := range []string{"/summary", "/coverage", "/variables", "/:snapshot", "/diff", "/checksums", "/files",
		"/runs/:id", "/outputs", "/pools", "/pull", "/home"} {
		if strings.HasSuffix(route, end) {
			return false
		}
	}
	return true
}

// largeRequest is about as large as the route accepts.
func (g *glutton) largeRequest(path string) string {
	body := largeBody(7)
	switch {
	case strings.HasSuffix(path, "/upload"):
		return body[:maxUpload]
	case strings.Contains(path, "/log/"):
		return body[:mib]
	}
	return body
}

// formatted is how long a text is that the server formats.
const formatted = mib / 2

// manyParts is an order of about the largest size, made of the smallest parts.
func manyParts(route string) string {
	for _, order := range []struct {
		of, list, part string
		size           int
	}{
		{"/variables", "set", "{}", 4 * mib},
		{"/snapshots", "files", "{}", bodySize},
		{"/checksums", "sha256", `""`, 10 * mib},
		{"/pull", "paths", `""`, bodySize},
		{"/runs", "targets", `""`, mib / 2},
		{"/pools", "workspaces", `""`, mib / 2},
		{"/:pool", "workspaces", `""`, mib / 2},
		{"/grants", "workspaces", `""`, mib / 2},
		{"/lease", "in_flight", "{}", mib},
		{"/phase", "diagnostics", "{}", 2 * mib},
	} {
		if strings.HasSuffix(route, order.of) {
			parts := strings.Repeat(order.part+",", (order.size-64)/(len(order.part)+1))
			return `{"` + order.list + `":[` + strings.TrimSuffix(parts, ",") + `]}`
		}
	}
	panic("no order is known of " + route)
}
