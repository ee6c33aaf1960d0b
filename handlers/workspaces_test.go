package handlers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/middleware"
)

// A body that is streamed is refused like any other: nothing of it can be seen.
func TestStreamedBodies(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	const x = "/api/v1/workspaces/x"
	c.converse([]step{
		{"PUT " + x + "/-/files/a.tf", "a = 1\n", 404, "workspace_not_found"},
		{"POST /api/v1/workspaces", `{"name":"x"}`, 200, ""},
		{"POST /api/v1/workspaces", `{"name":"y","unknown":1}`, 400, "workspace_invalid"},
		{"POST " + x + "/-/archive", "no archive", 400, "archive_invalid"},
		{"PUT " + x + "/-/files/a.tf", "\xff", 400, "file_not_text"},
		{"PUT " + x + "/-/files/..%2Fa.tf", "a", 400, "file_path_invalid"},
		{"PUT " + x + "/-/files/%2Fetc%2Fpasswd", "a", 400, "file_path_invalid"},
		{"PUT " + x + "/-/contents/nothing", "a", 400, "parameter_invalid"},
		{"PUT " + x + "/-/contents/" + wireDigest, "a", 400, "digest_mismatch"},
		{"GET " + x + "/-/files", "", 404, "snapshot_not_found"},
		{"PUT " + x + "/-/contents/" + wireDigest, "a = 1\n", 200, ""},
		{"PUT " + x + "/-/files/modules/net/a.tf", "a = 1\n", 200, `"number":1`},
		{"GET " + x + "/-/files/modules/net/a.tf", "", 200, "=a = 1\n"},
		{"GET " + x + "/-/files/modules%2Fnet%2Fa.tf", "", 200, "=a = 1\n"},
	})
	if got := c.do("PUT "+x+"/-/files/a.tf", "a = 1\n", "Content-Encoding: gzip"); got.status != 415 {
		t.Errorf("in gzip: %d %s", got.status, got.body)
	}
	if got := c.do("GET "+x+"/-/files", ""); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// A workspace's name is found wherever its slashes stand.
func TestWorkspaceNames(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	for _, name := range []string{"prod/net", "a/-", "-/x", "files/variables"} {
		c.converse([]step{{"POST /api/v1/workspaces", `{"name":"` + name + `"}`, 200, ""}})
	}
	c.converse([]step{
		{"GET /api/v1/workspaces/prod/net", "", 200, `"name":"prod/net"`},
		{"GET /api/v1/workspaces/prod%2Fnet/-/variables", "", 200, `"revision":1`},
		{"GET /api/v1/workspaces/files/variables", "", 200, `"name":"files/variables"`},
		{"GET /api/v1/workspaces/a%2F-", "", 200, `"name":"a/-"`},
		{"GET /api/v1/workspaces/prod//net", "", 400, "name_invalid"},
	})
}

// An order of very many small parts would take many times its length: it is refused before any of
// them is made.
func TestOrdersOfManyParts(t *testing.T) {
	deps := testDeps(t)
	deps.Limits.Memory = middleware.NewMemory(64 << 20)
	c := newCaller(t, startServer(t, deps), acme, acmeKey)
	c.converse([]step{{"POST /api/v1/workspaces", `{"name":"x"}`, 200, ""}})
	const parts = 150_000
	for order, body := range map[string]string{
		"snapshots": `{"files":[` + strings.Repeat("{},", parts) + `{}]}`,
		"checksums": `{"sha256":[` + strings.Repeat(`"",`, 2*parts) + `""]}`,
		"pull":      `{"paths":[` + strings.Repeat(`"",`, 2*parts) + `""]}`,
		"variables": `{` + manyNames(parts) + `}`,
	} {
		if got := c.do("POST /api/v1/workspaces/x/-/"+order, body); got.status != 400 ||
			!strings.Contains(got.body, "workspace_invalid") {
			t.Errorf("%s: %d %.200s", order, got.status, got.body)
		}
	}
	if n := deps.Limits.Memory.InUse(); n != 0 {
		t.Errorf("%d bytes are left", n)
	}
}

func manyNames(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `"%d":1,`, i)
	}
	return strings.TrimSuffix(text.String(), ",")
}

// What is made of an order's body counts beside the body.
func TestOrdersCountTwice(t *testing.T) {
	deps := testDeps(t)
	deps.Limits.Memory = middleware.NewMemory(64 << 20)
	c := newCaller(t, startServer(t, deps), acme, acmeKey)
	c.converse([]step{{"POST /api/v1/workspaces", `{"name":"x"}`, 200, ""}})
	order := `{"sha256":["` + strings.Repeat("0", 4<<20) + `"]}`
	deps.Limits.Memory.Force(budget.Share{Org: uuid.New()}, 46<<20) // there is room for the body
	if got := c.do("POST /api/v1/workspaces/x/-/checksums", order); got.status != 503 {
		t.Errorf("%d %.200s", got.status, got.body)
	}
}
