package handlers_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// nested is a state of this depth: in an attribute and in an output, where the answers have
// them.
func nested(serial, depth int) string {
	lists := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	return `{"version":4,"terraform_version":"1.9.0","serial":` + strconv.Itoa(serial) +
		`,"lineage":"5ad8","outputs":{"deep":{"value":` + lists(depth-3) +
		`,"type":"dynamic"}},"resources":[{"mode":"managed","type":"t","name":"n","provider":"p","instances":[{"attributes":{"id":"i","deep":` + lists(depth-6) + `}}]}]}`
}

// deepest is the depth up to which clients can read a state.
const deepest = 10_000

// What is nested deeper than any client can read is kept and served, and says everywhere that
// it is not looked into. No answer is a fault of ours, and none is empty.
func TestStateNestedTooDeep(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	const x, y = "/api/v1/state/x", "/api/v1/state/y"
	const unsupported = "state_format_unsupported"
	c.converse([]step{
		{"POST " + x, nested(1, deepest+1), 200, ""},
		{"POST " + x, nested(2, deepest+1), 200, ""},
		{"GET " + x, "", 200, "=" + nested(2, deepest+1)},
		{"GET " + x + "?view=redacted", "", 422, unsupported},
		{"GET " + x + "?view=outputs", "", 422, unsupported},
		{"GET " + x + "/versions/2/diff", "", 422, unsupported},
		{"GET " + x + "/versions/2/diff?format=text", "", 422, unsupported},
		{"GET " + x + "/outputs", "", 422, unsupported},
		{"GET " + x + "/outputs/deep", "", 422, unsupported},
		{"GET " + x + "/outputs/deep?raw", "", 422, unsupported},
		{"GET " + x + "/versions", "", 200, `"resources":null`},
		{"GET /api/v1/resources/t.n/history?state=x", "", 422, unsupported},
		{"GET /api/v1/resources?state=x", "", 422, unsupported},
		{"POST " + x + "/versions/1/rollback", `{"reason":"it broke"}`, 200, `"serial":3`},
		{"POST " + y, with(1, 1), 200, ""},
		{"POST " + y, nested(2, deepest+1), 200, ""},
		{"POST " + y, with(3, 1), 200, ""},
		{"GET " + y + "/versions/3/diff", "", 422, unsupported},
		{"GET " + y + "/versions/3/diff?against=1", "", 200, ""},
	})
}

// Up to that depth, answers are whole.
func TestStateNestedDeep(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	const x = "/api/v1/state/x"
	c.converse([]step{{"POST " + x, with(1, 1), 200, ""}, {"POST " + x, nested(2, deepest), 200, ""}})
	for _, path := range []string{x + "?view=redacted", x + "?view=outputs", x + "/versions/2/diff", x + "/outputs", x +
		"/outputs/deep", "/api/v1/resources/t.n/history?state=x"} {
		got := c.do("GET "+path, "")
		if err := jsonscan.Object([]byte(got.body), jsonscan.Limits{}, nil); got.status != http.StatusOK || err != nil {
			t.Errorf("%s: %d, %v: %.200s", path, got.status, err, got.body)
		}
	}
}
