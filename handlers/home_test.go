package handlers_test

import (
	"encoding/json"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/runworld"
)

// Home counts what there is, and has of what went wrong what is not over: a failure after which its
// workspace has succeeded is, and a workspace that failed twice is named once.
func TestHomeHasWhatIsToBeDone(t *testing.T) {
	deps := testDeps(t)
	world := runworld.New(t)
	deps.Runs, deps.Now = world.Service, world.Now
	c := newCaller(t, startServer(t, deps), acme, acmeKey)
	end := func(workspace string, fine bool) string {
		run, err := world.Create(t.Context(), owner, api.RunOrder{Workspace: workspace, Kind: "plan"}, "")
		if err != nil {
			t.Fatal(err)
		}
		e := world.Claim(t, acme)
		if fine {
			e.Plan(1)
		} else {
			e.Report(api.PhaseReport{Phase: "plan", Outcome: "failed", Class: "config", ExitCode: 1, Last: true, Seconds: 1})
		}
		world.Jump(2_000_000) // IDs sort by the millisecond
		return run.ID
	}
	end("mended", false)
	end("mended", true)
	end("broken", false)
	last := end("broken", false)
	c.converse([]step{
		{"POST /api/v1/state/a/x", body(1), 200, ""}, {"POST /api/v1/state/b", body(1), 200, ""},
		{"POST /api/v1/state/gone", body(1), 200, ""}, {"DELETE /api/v1/state/gone", "", 200, ""},
		{"POST /api/v1/state/b/-/candidates?reason=lost", body(7), 201, ""},
		{"LOCK /api/v1/state/a/x", wireInfo, 200, ""},
		{"POST /api/v1/workspaces", `{"name":"x"}`, 200, ""},
		{"PUT /api/v1/workspaces/x/-/files/main.tf", "a = 1\n", 200, ""},
	})
	var said api.Home
	got := c.do("GET /api/v1/home", "")
	if err := json.Unmarshal([]byte(got.body), &said); err != nil || got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if s := said.States; s.Count != 2 || s.More || len(s.Held) != 1 || s.Held[0] != "b" || len(s.Locks) != 1 ||
		s.Locks[0].State != "a/x" {
		t.Errorf("states: %+v", s)
	}
	if w := said.Workspaces; w.Count != 1 || w.Files != 1 || len(w.Kinds) != 1 ||
		w.Kinds[0] != (api.FileKind{Kind: "tf", Files: 1}) {
		t.Errorf("workspaces: %+v", w)
	}
	if r := said.Runs; len(r.Failed) != 1 || r.Failed[0].ID != last || len(r.Recent) != 4 || len(r.Drift) != 0 {
		t.Errorf("runs: %s", got.body)
	}
}
