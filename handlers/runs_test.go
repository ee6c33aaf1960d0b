package handlers_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/state"
)

// runOf is whom the token of one of acme's runs stands for.
func runOf(id string, epoch int64, stage auth.RunStage, name string, version uint64) auth.Principal {
	return auth.Principal{
		Org: acme, OrgName: "Acme", KeyID: auth.RunKeyID(id),
		Run: &auth.RunGrant{ID: id, Epoch: epoch, Stage: stage, State: name, Version: version},
	}
}

func openFence(t *testing.T, service *state.Service, name state.Name, run string, epoch int64) {
	t.Helper()
	setFence(t, service, name, state.Fence{Run: run, Epoch: epoch, Open: true})
}

func setFence(t *testing.T, service *state.Service, name state.Name, f state.Fence) {
	t.Helper()
	if _, err := service.Fence(t.Context(), state.Ref{Org: acme, Name: name}, f); err != nil {
		t.Fatal(err)
	}
}

// withRuns is a server on which tokens stand for runs, and a caller for each token.
func withRuns(t *testing.T, runs map[string]auth.Principal) (*state.Service, func(key string) caller) {
	t.Helper()
	deps, known := testDeps(t), testKeys()
	for key, principal := range runs {
		known[auth.Credentials{Org: acme, Key: key}] = principal
	}
	deps.Verifier = known
	server := startServer(t, deps)
	return deps.States, func(key string) caller { return newCaller(t, server, acme, key) }
}

// A plan reads the version that it is pinned to, whatever becomes of the state, and can write
// nothing.
func TestPlanReadsItsPinOnly(t *testing.T) {
	_, as := withRuns(t, map[string]auth.Principal{
		"plan":   runOf("r", 1, auth.RunPlan, "x", 1),
		"second": runOf("r", 1, auth.RunPlan, "x", 2),
		"absent": runOf("r", 1, auth.RunPlan, "x", 0),
		"future": runOf("r", 1, auth.RunPlan, "x", 9),
		"other":  runOf("r", 1, auth.RunPlan, "y", 1),
	})
	owner, plan := as(acmeKey), as("plan")
	owner.converse([]step{{"POST /api/v1/state/x", body(1), 200, ""}, {"POST /api/v1/state/x", body(2), 200, ""}})
	pinned := []step{
		{"GET /api/v1/state/x", "", 200, "=" + body(1)},
		{"GET /api/v1/state/x?version=1", "", 200, "=" + body(1)},
		{"GET /api/v1/state/x/-/versions/1", "", 200, "=" + body(1)},
	}
	plan.converse(pinned)
	if got := plan.do("GET /api/v1/state/x", ""); got.header.Get("X-Holdfast-Version") != "1" {
		t.Errorf("version %q", got.header.Get("X-Holdfast-Version"))
	}
	plan.converse([]step{
		{"GET /api/v1/state/x?version=2", "", 403, "run_read_only"},
		{"GET /api/v1/state/x/-/versions/2", "", 403, "run_read_only"},
		{"GET /api/v1/state/x?view=redacted", "", 403, "run_read_only"},
		{"POST /api/v1/state/x", body(3), 403, "-lock=false"},
		{"LOCK /api/v1/state/x", infoA, 403, "run_read_only"},
		{"UNLOCK /api/v1/state/x", infoA, 403, "run_read_only"},
		{"DELETE /api/v1/state/x", "", 403, "run_read_only"},
		{"POST /api/v1/state/x/-/candidates?reason=x", body(3), 403, "run_read_only"},
	})
	as("absent").converse([]step{{"GET /api/v1/state/x", "", 404, "state_not_found"},
		{"GET /api/v1/state/x?version=1", "", 403, "run_read_only"}})
	as("future").converse([]step{{"GET /api/v1/state/x", "", 410, "pinned_version_gone"}})
	as("other").converse([]step{{"GET /api/v1/state/x", "", 403, `for the state \"y\" only`}})
	owner.converse([]step{{"DELETE /api/v1/state/x", "", 200, ""}})
	plan.converse(pinned)
	as("second").converse([]step{{"GET /api/v1/state/x", "", 200, "=" + body(2)}})
	owner.converse([]step{{"DELETE /api/v1/state/x/-/versions/1?reason=leaked", "", 200, ""}})
	plan.converse([]step{{"GET /api/v1/state/x", "", 410, "pinned_version_gone"}})

	got := owner.do("GET /api/v1/audit?action=access.refused&key=run.r&limit=99", "")
	if n := strings.Count(got.body, `"refused":"run_read_only"`); n != 9 ||
		!strings.Contains(got.body, `"refused":"right_missing"`) {
		t.Errorf("%d refusals are on record: %s", n, got.body)
	}
}

// What a run's token is good for, on every route that there is: nothing but what this test
// lists, and nothing at all of another state.
func TestEveryRouteWithARun(t *testing.T) {
	read := []string{"GET /api/v1/state/x", "GET /api/v1/state/x?version=1", "GET /api/v1/state/x/-/versions/1"}
	may := map[string][]string{"plan": read, "apply": read}
	for route, right := range rightsOf() {
		onState := strings.Contains(route, "/api/v1/state/x") // not of resources, which are those of all states, nor of e/x
		if onState && (right == auth.ReadState || right == auth.WriteState || right == auth.LockState) {
			may["apply"] = append(may["apply"], route)
		}
	}
	_, as := withRuns(t, map[string]auth.Principal{
		"plan": runOf("p", 1, auth.RunPlan, "x", 1), "apply": runOf("a", 1, auth.RunApply, "x", 0),
		"plan elsewhere": runOf("p", 1, auth.RunPlan, "y", 1), "apply elsewhere": runOf("a", 1, auth.RunApply, "y", 0),
	})
	as(acmeKey).converse([]step{{"POST /api/v1/state/x", body(1), 200, ""}})
	for route := range rightsOf() {
		for _, key := range []string{"plan", "apply", "plan elsewhere", "apply elsewhere"} {
			got := as(key).do(route, bodyFor(route))
			allowed := false
			for _, one := range may[key] {
				allowed = allowed || one == route
			}
			if allowed == (got.status == http.StatusForbidden) {
				t.Errorf("%s as %s: %d %s", route, key, got.status, got.body)
			}
		}
	}
}

// An apply locks, reads, writes and unlocks its state as any client does, and every trace of
// it names the run.
func TestApplyOfARun(t *testing.T) {
	service, as := withRuns(t, map[string]auth.Principal{"apply": runOf("r", 3, auth.RunApply, "x", 0)})
	openFence(t, service, "x", "r", 3)
	as("apply").converse([]step{
		{"GET /api/v1/state/x", "", 404, ""},
		{"LOCK /api/v1/state/x", infoA, 200, ""},
		{"POST /api/v1/state/x?ID=a-1", body(1), 200, `"version":1`},
		{"POST /api/v1/state/x?ID=a-1", body(2), 200, `"version":2`},
		{"GET /api/v1/state/x", "", 200, "=" + body(2)},
	})
	owner := as(acmeKey)
	owner.converse([]step{
		{"GET /api/v1/locks", "", 200, `"key_id":"run.r","run":"r","epoch":3`},
		{"POST /api/v1/state/x", body(3), 409, "=" + infoA},
	})
	as("apply").converse([]step{{"UNLOCK /api/v1/state/x", infoA, 200, ""}, {"UNLOCK /api/v1/state/x", infoA, 200, ""}})
	owner.converse([]step{
		{"GET /api/v1/state/x/-/versions", "", 200, `"key_id":"run.r","run":"r"`},
		{"GET /api/v1/audit?action=state.write", "", 200, `"key_id":"run.r"`},
		{"POST /api/v1/state/x", body(3), 200, `"version":3`}, // a key is not bound by the fence
	})
}

// What a lost executor writes is kept to the byte, and accepted by nobody but a person.
func TestFencedWriteIsKept(t *testing.T) {
	service, as := withRuns(t, map[string]auth.Principal{
		"old": runOf("r", 1, auth.RunApply, "x", 0), "new": runOf("r", 2, auth.RunApply, "x", 0),
		"never": runOf("q", 9, auth.RunApply, "x", 0),
	})
	openFence(t, service, "x", "r", 1)
	old, owner := as("old"), as(acmeKey)
	old.converse([]step{{"LOCK /api/v1/state/x", infoA, 200, ""}, {"POST /api/v1/state/x?ID=a-1", body(1), 200, ""}})
	openFence(t, service, "x", "r", 2)
	for range 3 { // it tries again
		old.converse([]step{{"POST /api/v1/state/x?ID=a-1", body(2), 409, "run_fenced"}})
	}
	old.converse([]step{
		{"POST /api/v1/state/x?ID=a-1", body(1), 409, "version 1 has the very bytes"},
		{"UNLOCK /api/v1/state/x", infoA, 409, "run_fenced"},
		{"LOCK /api/v1/state/x", infoB, 409, "run_fenced"},
		{"DELETE /api/v1/state/x?ID=a-1", "", 409, "run_fenced"},
		{"POST /api/v1/state/x/-/versions/1/rollback", `{"reason":"x","lock_id":"a-1"}`, 409, ""},
	})
	as("never").converse([]step{{"LOCK /api/v1/state/x", infoB, 409, "run r has taken its place"}})
	var page api.Candidates
	got := owner.do("GET /api/v1/state/x/-/candidates", "")
	if err := json.Unmarshal([]byte(got.body), &page); err != nil || len(page.Candidates) != 1 {
		t.Fatalf("%v: %s", err, got.body)
	}
	kept := page.Candidates[0]
	if kept.Source != "fenced" || kept.Base != 1 || kept.Run != "r" || kept.Origin == nil ||
		!strings.Contains(kept.Origin.Reason, "run r, epoch 1") {
		t.Errorf("%+v", kept)
	}
	again := old.do("POST /api/v1/state/x?ID=a-1", body(2))
	if !strings.Contains(again.body, "candidate "+kept.ID) || !strings.Contains(again.body, "promote or discard") {
		t.Errorf("%s; want it to say where the body is, and what to do", again.body)
	}
	if _, err := service.ReleaseFor(t.Context(), state.Ref{Org: acme, Name: "x"}, "r", "its agent is gone"); err != nil {
		t.Fatal(err)
	}
	owner.converse([]step{
		{"GET /api/v1/state/x", "", 200, "=" + body(1)},
		{"GET /api/v1/state/x/-/candidates/" + kept.ID, "", 200, "=" + body(2)},
		{"GET /api/v1/audit?action=candidate.fence", "", 200, kept.ID},
		{"GET /api/v1/audit?action=lock.force", "", 200, `"reason":"its agent is gone"`},
	})
	as("new").converse([]step{
		{"LOCK /api/v1/state/x", infoA, 409, "lock_id_used"},
		{"LOCK /api/v1/state/x", infoB, 200, ""},
	})
	old.converse([]step{{"POST /api/v1/state/x?ID=a-1", body(2), 409, "run_fenced"}})
	as("new").converse([]step{{"POST /api/v1/state/x/-/candidates/" + kept.ID + "/promote",
		`{"reason":"it was the last","lock_id":"b-2"}`, 200, `"version":2`}})
}

// When no more can be kept, a fenced write is still not accepted.
func TestFencedWritesAreBounded(t *testing.T) {
	_, as := withRuns(t, map[string]auth.Principal{"lost": runOf("r", 1, auth.RunApply, "x", 0)})
	other := func(n int) string { return fmt.Sprintf(`{"version":4,"serial":1,"lineage":"L%d"}`, n) }
	for i := range state.MaxOpenCandidates {
		as("lost").converse([]step{{"POST /api/v1/state/x", other(i), 409, "run_fenced"}})
	}
	as("lost").converse([]step{
		{"POST /api/v1/state/x", other(99), 409, "keep errored.tfstate"},
		{"POST /api/v1/state/x", other(99), 409, "candidates_full"},
		{"POST /api/v1/state/x", other(0), 409, "run_fenced"}, // which is kept already
		{"GET /api/v1/state/x", "", 404, ""},
	})
}

// Who has a run is never refused for the requests of its organization: its tool would give up
// in the middle of an apply. They count all the same.
func TestRunsAreSparedByLimits(t *testing.T) {
	deps, known := testDeps(t), testKeys()
	run, owner := runOf("r", 1, auth.RunApply, "x", 0), known[auth.Credentials{Org: acme, Key: acmeKey}]
	run.Limits.States, owner.Limits.States = 4, 4
	known[auth.Credentials{Org: acme, Key: "run"}], known[auth.Credentials{Org: acme, Key: acmeKey}] = run, owner
	deps.Verifier = known
	server := startServer(t, deps)
	as := func(key string) caller { return newCaller(t, server, acme, key) }
	openFence(t, deps.States, "x", "r", 1)
	as("run").converse([]step{{"LOCK /api/v1/state/x", infoA, 200, ""}})
	limited := 0
	for range 20 {
		if got := as(acmeKey).do("GET /api/v1/state/y", ""); got.status == http.StatusTooManyRequests {
			limited++
		}
	}
	if limited == 0 {
		t.Fatal("nobody was limited")
	}
	as("run").converse([]step{
		{"GET /api/v1/state/x", "", 404, ""}, // though the organization's requests are used up
		{"POST /api/v1/state/x?ID=a-1", body(1), 200, ""},
		{"UNLOCK /api/v1/state/x", infoA, 200, ""},
	})
	if got := as("run").do("GET /api/v1/whoami", ""); !strings.Contains(got.body,
		fmt.Sprintf(`"state_rate_limit":%d`, run.Limits.States)) {
		t.Errorf("%s", got.body)
	}
}
