package handlers_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
)

// Bad input is refused with a code, and leaves nothing behind.
func TestBadInput(t *testing.T) {
	const x = "/api/v1/state/x"
	tests := []struct {
		request, body string
		status        int
		code          string
	}{
		{"POST " + x, ``, 400, "state_invalid"},
		{"POST " + x, `[]`, 400, "state_invalid"},
		{"POST " + x, `null`, 400, "state_invalid"},
		{"POST " + x, `{"serial":1`, 400, "state_invalid"},
		{"POST " + x, `{"serial":1} {}`, 400, "state_invalid"},
		{"POST " + x, `{"serial":-1}`, 400, "state_invalid"},
		{"POST " + x, `{"serial":1.5}`, 400, "state_invalid"},
		{"POST " + x, `{"serial":"1"}`, 400, "state_invalid"},
		{"POST " + x, `{"lineage":7}`, 400, "state_invalid"},
		{"POST " + x, "{\"lineage\":\"\xff\"}", 400, "state_invalid"},
		{"POST " + x, `{"serial":1,"serial":2}`, 400, "state_invalid"},
		{"POST " + x, strings.Repeat(" ", maxStateBytes+1), 413, "body_too_large"},
		{"POST " + x + "?ID=", body(1), 400, "lock_invalid"},
		{"POST " + x + "?ID=" + strings.Repeat("x", 256), body(1), 400, "lock_invalid"},
		{"POST " + x + "?ID=a&ID=b", body(1), 400, "parameter_invalid"},
		{"POST " + x + "?ID=%zz", body(1), 400, "parameter_invalid"},
		{"POST " + x + "?ID=a;b", body(1), 400, "parameter_invalid"},
		{"POST " + x + "?id=a", body(1), 400, "parameter_invalid"},
		{"GET " + x + "?View=outputs", ``, 400, "parameter_invalid"},
		{"GET " + x + "?VERSION=1", ``, 400, "parameter_invalid"},
		{"GET " + x + "?version=0", ``, 400, "parameter_invalid"},
		{"GET /api/v1/states?deleted=all", ``, 400, "parameter_invalid"},
		{"POST " + x + "?unlock=true&unlock=true", body(1), 400, "parameter_invalid"},
		{"DELETE " + x + "?ID=%zz", ``, 400, "parameter_invalid"},
		{"UNLOCK " + x + "?ID=%zz", ``, 400, "parameter_invalid"},
		{"DELETE " + x + "/lock?ID=a;b", ``, 400, "parameter_invalid"},
		{"LOCK " + x, ``, 400, "lock_invalid"},
		{"LOCK " + x, `{}`, 400, "lock_invalid"},
		{"LOCK " + x, `{"ID":7}`, 400, "lock_invalid"},
		{"LOCK " + x, `{"ID":"a","Created":"yesterday"}`, 400, "lock_invalid"},
		{"LOCK " + x, `{"ID":"` + strings.Repeat("x", 65<<10) + `"}`, 413, "body_too_large"},
		{"UNLOCK " + x, `{}`, 400, "lock_invalid"},
		{"UNLOCK " + x, `nonsense`, 400, "lock_invalid"},
		{"GET /api/v1/state/" + strings.Repeat("x", 256), ``, 400, "name_invalid"},
		{"GET /api/v1/state/..", ``, 400, "name_invalid"},
		{"GET /api/v1/state/%2e%2e%2Fx", ``, 400, "name_invalid"},
		{"GET /api/v1/state/a%2F%2Fb", ``, 400, "name_invalid"},
		{"GET /api/v1/state/a%20b", ``, 400, "name_invalid"},
		{"GET /api/v1/state/a+b", ``, 400, "name_invalid"},
		{"GET /api/v1/state/a%252Fb", ``, 400, "name_invalid"},
		{"GET /api/v1/state/a%00b", ``, 400, "name_invalid"},
		{"GET /terraform/state/a%2Fb/c", ``, 400, "name_invalid"},
		{"POST /api/v1/state/x?unlock", body(1), 400, "parameter_invalid"},
		{"POST /api/v1/state/x?ID=a&unlock=", body(1), 400, "parameter_invalid"},
		{"PUT /api/v1/state/x?restore_purged", body(1), 400, "parameter_invalid"},
		{"DELETE /api/v1/state/x?unlock=maybe", "", 400, "parameter_invalid"},
		{"GET /api/v1/state/a//b", ``, 400, "name_invalid"},
		{"GET /api/v1/state/a/", ``, 400, "name_invalid"},
		{"GET /api/v1/state/a/-/b", ``, 400, "route_unknown"},
		{"GET /api/v1/state/", ``, 400, "route_unknown"},
		{"GET /api/v1/state", ``, 400, "route_unknown"},
		{"GET /api/v2/state/x", ``, 400, "route_unknown"},
		{"GET /terraform/state/x", ``, 400, "route_unknown"},
		{"GET /x", ``, 400, "route_unknown"},
		{"POST /", body(1), 405, "method_not_allowed"},
		{"PATCH " + x, ``, 405, "method_not_allowed"},
		{"LOCK " + x + "/lock", infoA, 405, "method_not_allowed"},
	}
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	for _, test := range tests {
		got := c.do(test.request, test.body, "X-Request-ID: r-1")
		var failure api.Failure
		if err := json.Unmarshal([]byte(got.body), &failure); err != nil {
			t.Errorf("%.80s %.40q: the body is no JSON: %q", test.request, test.body, got.body)
			continue
		}
		if got.status != test.status || string(failure.Code) != test.code {
			t.Errorf("%.80s %.40q: %d %s; want %d %s", test.request, test.body, got.status, failure.Code, test.status, test.code)
		}
		if failure.Status != "error" || failure.Message == "" || failure.RequestID != "r-1" {
			t.Errorf("%.80s %.40q: incomplete failure %+v", test.request, test.body, failure)
		}
	}
	c.converse([]step{{"GET " + x, "", 404, ""}, {"GET " + x + "/lock", "", 200, "={}"}})
}

func TestMethodNotAllowedListsMethods(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	got := c.do("PATCH /api/v1/state/x", "")
	for _, method := range []string{"GET", "POST", "PUT", "DELETE", "LOCK", "UNLOCK"} {
		if !strings.Contains(got.header.Get("Allow"), method) {
			t.Errorf("Allow: %q lacks %s", got.header.Get("Allow"), method)
		}
	}
}

// A body without a Content-Length is held to the limit as well.
func TestChunkedBodyIsBounded(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	r, err := http.NewRequest("POST", c.url+"/api/v1/state/x", io.LimitReader(endless{}, 4*maxStateBytes))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(c.user, c.key)
	if got := c.send(r); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("%d %s; want 413", got.status, got.body)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// Terraform's force-unlock is an empty chunked body.
func TestEmptyChunkedUnlock(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	c.converse([]step{{"LOCK /api/v1/state/x", infoA, 200, ""}})
	r, err := http.NewRequest("UNLOCK", c.url+"/api/v1/state/x", io.MultiReader(strings.NewReader("")))
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = -1
	r.SetBasicAuth(c.user, c.key)
	if got := c.send(r); got.status != 200 {
		t.Errorf("%d %s; want 200", got.status, got.body)
	}
	c.converse([]step{{"GET /api/v1/state/x/lock", "", 200, "={}"}})
}
