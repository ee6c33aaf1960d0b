package handlers_test

import (
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

// ruled gives every state the same policy.
type ruled state.Policy

func (r ruled) Policy(uuid.UUID, string) state.Policy { return state.Policy(r) }

func guardedBy(t *testing.T, policy state.Policy) handlers.Deps {
	t.Helper()
	deps := testDeps(t)
	store := memory.New(64 << 20)
	t.Cleanup(func() { _ = store.Close() })
	deps.States = state.NewService(store, ruled(policy), time.Now, slog.New(slog.DiscardHandler))
	return deps
}

// holding is a policy under which guards keep writes back.
func holding() state.Policy {
	policy := state.DefaultPolicy()
	policy.Guards = state.GuardsHold
	return policy
}

// with is a state with so many resources.
func with(serial, resources int) string {
	instances := strings.TrimSuffix(strings.Repeat(`{"attributes":{}},`, resources), ",")
	for i := 0; strings.Contains(instances, `{"attributes"`); i++ {
		instances = strings.Replace(instances, `{"attributes"`, fmt.Sprintf(`{"index_key":%d,"attributes"`, i), 1)
	}
	return fmt.Sprintf(`{"version":4,"serial":%d,"lineage":"5ad8","resources":[{"mode":"managed","type":"t","name":"n","provider":"p","instances":[%s]}]}`, serial, instances)
}

// With warn, a suspicious write is accepted, and whoever sees its answer is told.
func TestGuardsWarn(t *testing.T) {
	server := startServer(t, guardedBy(t, state.DefaultPolicy()))
	c := newCaller(t, server, acme, acmeKey)
	if got := c.do("POST /api/v1/state/x", with(1, 4)); got.header.Get("X-Holdfast-Warning") != "" {
		t.Errorf("a warning for a first version: %v", got.header)
	}
	for range 2 { // the second is a replay
		if got := c.do("POST /api/v1/state/x", with(2, 1)); got.status != 200 ||
			got.header.Get("X-Holdfast-Warning") != "shrunk" {
			t.Errorf("%d %v %s; want a warning", got.status, got.header, got.body)
		}
	}
	c.converse([]step{
		{"GET /api/v1/state/x", "", 200, "=" + with(2, 1)},
		{"GET /api/v1/state/x/-/versions", "", 200, `"warnings":["shrunk"]`},
		{"GET /api/v1/audit?action=state.write", "", 200, `"note":"shrunk"`},
	})
	metrics := newCaller(t, server, uuid.Nil, "").do("GET /metrics", "").body
	has(t, metrics, `holdfast_guard_findings_total\{finding="shrunk",outcome="accepted"\} 1`)
	has(t, metrics, `holdfast_guard_findings_total\{finding="emptied",outcome="held"\} 0`)
}

// With hold, nothing of it is lost: the same body is the same candidate, which has a diff,
// and becomes a version when somebody says why.
func TestGuardsHoldAndPromote(t *testing.T) {
	server := startServer(t, guardedBy(t, holding()))
	c := newCaller(t, server, acme, acmeKey)
	const x = "/api/v1/state/x"
	c.converse([]step{{"POST " + x, with(1, 4), 200, ""}, {"POST " + x, with(2, 0), 409, "write_held"},
		{"GET " + x, "", 200, "=" + with(1, 4)}})
	id := candidateIn(t, c.do("POST "+x, with(2, 0)).body)
	one := x + "/-/candidates/" + id
	c.converse([]step{
		{"GET " + x + "/-/candidates", "", 200, `"id":"` + id + `","status":"open","source":"held","base_version":1`},
		{"GET " + one, "", 200, "=" + with(2, 0)},
		{"GET " + one + "/diff?format=text", "", 200, "4 removed"},
		{"GET " + one + "/diff", "", 200, `"removed":4`},
		{"POST " + one + "/promote", "", 400, "reason_missing"},
		{"POST " + one + "/promote", `{"reason":"meant so"}`, 200, `"version":2`},
		{"POST " + one + "/promote", `{"reason":"meant so"}`, 200, `"version":2`}, // the answer got lost
		{"GET " + x, "", 200, "=" + with(2, 0)},
		{"GET " + x + "/-/versions", "", 200, `"origin":{"candidate":"` + id + `","reason":"meant so"}`},
		{"POST " + one + "/discard", `{"reason":"late"}`, 409, "candidate_settled"},
		{"GET " + one + "/diff", "", 409, "candidate_settled"},
		{"GET " + one, "", 200, `"status":"promoted"`},
		{"POST " + x, with(3, 1), 200, `"version":3`},
		{"POST " + one + "/promote", `{"reason":"meant so"}`, 409, "candidate_settled"},
		{"GET " + x + "/-/candidates/0123456789abcdef", "", 404, "candidate_not_found"},
		{"GET " + x + "/-/candidates/nonsense", "", 400, "parameter_invalid"},
	})
	if list := c.do("GET "+x+"/candidates", "").body; strings.Count(list, `"id"`) != 1 {
		t.Errorf("the same body made several candidates: %s", list)
	}
	has(t, newCaller(t, server, uuid.Nil, "").do("GET /metrics", "").body,
		`holdfast_guard_findings_total\{finding="emptied",outcome="held"\} 2`)
}

// What was discarded is gone; the same body sent again is a new candidate, never lost.
func TestDiscardedBodyComesAgain(t *testing.T) {
	c := newCaller(t, startServer(t, guardedBy(t, holding())), acme, acmeKey)
	const x = "/api/v1/state/x"
	c.converse([]step{{"POST " + x, with(1, 4), 200, ""}, {"LOCK " + x, infoA, 200, ""}})
	seen := map[string]bool{}
	for range 3 {
		id := candidateIn(t, c.do("POST "+x+"?ID=a-1", with(2, 0)).body)
		if again := c.do("POST "+x+"/candidates?reason=mine", with(2, 0)); again.status != 201 ||
			!strings.Contains(again.body, id) || !strings.Contains(again.body, `"source":"held"`) {
			t.Errorf("%d %s; want the candidate %s that is there", again.status, again.body, id)
		}
		one := x + "/-/candidates/" + id
		c.converse([]step{
			{"GET " + one, "", 200, "=" + with(2, 0)},
			{"POST " + one + "/discard", `{"reason":"wrong"}`, 200, ""},
			{"POST " + one + "/discard", `{"reason":"wrong"}`, 200, ""},
			{"POST " + one + "/promote", `{"reason":"late"}`, 409, "candidate_settled"},
			{"GET " + one, "", 200, `"status":"discarded"`},
		})
		seen[id] = true
	}
	if len(seen) != 3 {
		t.Errorf("candidates %v; want three", seen)
	}
}

// A candidate that was brought waits for the state not to have moved on, or for somebody
// who wants it anyway, and for the lock.
func TestErroredStateIsPromoted(t *testing.T) {
	c := newCaller(t, startServer(t, guardedBy(t, state.DefaultPolicy())), acme, acmeKey)
	const x = "/api/v1/state/x"
	c.converse([]step{{"POST " + x, with(1, 4), 200, ""}, {"LOCK " + x, infoB, 200, ""}})
	id := regexp.MustCompile(`"id":"([0-9a-f]{16})"`).FindStringSubmatch(c.do("POST "+x+"/candidates?reason=crash",
		with(2, 5)).body)[1]
	promote := "POST " + x + "/-/candidates/" + id + "/promote"
	c.converse([]step{
		{promote, `{"reason":"recover"}`, 409, "=" + infoB},
		{promote, `{"reason":"recover","lock_id":"z-9"}`, 409, "=" + infoB},
		{"POST " + x + "?ID=b-2", with(2, 4), 200, `"version":2`},
		{promote, `{"reason":"recover","lock_id":"b-2"}`, 409, "candidate_stale"},
		{promote, `{"reason":"recover","lock_id":"b-2","anyway":true}`, 200, `"version":3`},
		{promote, `{"reason":"recover","lock_id":"b-2","anyway":true}`, 200, `"version":3`},
		{"UNLOCK " + x, infoB, 200, ""},
		{promote, `{"reason":"recover","lock_id":"b-2","anyway":true}`, 409, "lock_not_held"},
		{"GET " + x, "", 200, "=" + with(2, 5)},
		{"POST /api/v1/state/new/-/candidates", with(1, 1), 201, `"base_version":0`},
		{"POST /api/v1/state/new/-/candidates", "{", 400, "state_invalid"},
		{"GET /api/v1/state/new", "", 404, "state_not_found"},
	})
	fresh := regexp.MustCompile(`"id":"([0-9a-f]{16})"`).FindStringSubmatch(c.do("GET /api/v1/state/new/-/candidates",
		"").body)[1]
	c.converse([]step{
		{"GET /api/v1/state/new/-/candidates/" + fresh + "/diff?format=text", "", 200, "1 added"},
		{"POST /api/v1/state/new/-/candidates/" + fresh + "/promote", `{"reason":"start"}`, 200, `"version":1`},
	})
}

// candidateIn returns the ID that a refusal names.
func candidateIn(t *testing.T, text string) string {
	t.Helper()
	found := regexp.MustCompile(`candidate ([0-9a-f]{16})`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no candidate in %s", text)
	}
	return found[1]
}
