package handlers_test

import (
	"encoding/json"
	"fmt"
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
	if r := said.Runs; r.FailedCount != 1 || len(r.Drifted) != 0 || len(r.Failed) != 1 ||
		r.Failed[0].ID != last || len(r.Recent) != 4 || len(r.Drift) != 0 {
		t.Errorf("runs: %s", got.body)
	}
}

// Home counts every workspace that is in trouble, however many there are and whatever ran since elsewhere.
func TestHomeCountsAllTrouble(t *testing.T) {
	deps := testDeps(t)
	world := runworld.New(t)
	deps.Runs, deps.Now = world.Service, world.Now
	end := func(workspace, kind string, fine bool) {
		if _, err := world.Create(t.Context(), owner, api.RunOrder{Workspace: workspace, Kind: kind}, ""); err != nil {
			t.Fatal(err)
		}
		if e := world.Claim(t, acme); fine {
			e.Plan(1) // which finds something to change
		} else {
			e.Report(api.PhaseReport{Phase: "plan", Outcome: "failed", Class: "config", ExitCode: 1, Last: true, Seconds: 1})
		}
		world.Jump(2_000_000)
	}
	end("prod/a", "plan", false)
	end("prod/a", "drift", true) // a drift run that succeeds ends the failure, and finds a drift
	end("prod/b", "plan", false)
	for i := range 25 {
		end(fmt.Sprintf("dev/%02d", i), "drift", true)
		end(fmt.Sprintf("dev/%02d", i), "plan", false)
	}
	server := startServer(t, deps)
	look := func(key string) (said api.Home) {
		got := newCaller(t, server, acme, key).do("GET /api/v1/home", "")
		if err := json.Unmarshal([]byte(got.body), &said); err != nil || got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		return said
	}
	all := look(acmeKey).Runs
	if all.FailedCount != 26 || len(all.Failed) != 20 || all.Failed[0].Workspace != "dev/24" || all.DriftCount != 26 ||
		len(all.Drift) != 20 || len(all.Drifted) != 26 {
		t.Errorf("%d of %d failed, %d of %d drifted, %v", len(all.Failed), all.FailedCount, len(all.Drift), all.DriftCount,
			all.Drifted)
	}
}

// Drift is over once a run has applied or taken over all that there is, and not by one of some resources.
func TestHomeHasNoDriftThatIsOver(t *testing.T) {
	deps := testDeps(t)
	world := runworld.New(t)
	deps.Runs, deps.Now = world.Service, world.Now
	server := startServer(t, deps)
	run := func(kind string, targets ...string) {
		made, err := world.Create(t.Context(), owner, api.RunOrder{Workspace: "w", Kind: kind, Targets: targets}, "")
		if err != nil {
			t.Fatal(err)
		}
		if world.Claim(t, acme).Plan(1); kind == "apply" {
			planned, err := world.Get(t.Context(), owner, made.ID)
			if err == nil {
				_, err = world.Approve(t.Context(), owner, made.ID, api.Decision{Digest: planned.Pin.Digest})
			}
			if err != nil {
				t.Fatal(err)
			}
			world.Claim(t, acme).Apply("{}")
		}
		world.Jump(2_000_000)
	}
	drifted := func() int {
		var said api.Home
		got := newCaller(t, server, acme, acmeKey).do("GET /api/v1/home", "")
		if err := json.Unmarshal([]byte(got.body), &said); err != nil || got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		return said.Runs.DriftCount
	}
	run("drift")
	if run("apply", "a.b"); drifted() != 1 {
		t.Error("an apply of one resource ends all drift")
	}
	if run("apply"); drifted() != 0 {
		t.Error("what was applied has drifted still")
	}
	if run("drift"); drifted() != 1 {
		t.Error("a later look finds nothing")
	}
}
