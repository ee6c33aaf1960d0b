package main

import (
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/runworld"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

// keepingRuns starts a server that keeps runs, and gives the shell what a client needs.
func (s *shell) keepingRuns() *runworld.World {
	s.t.Helper()
	world, log, key := runworld.New(s.t), slog.New(slog.DiscardHandler), auth.NewKey(acme)
	router, err := handlers.NewRouter(handlers.Deps{
		States:    state.NewService(memory.New(1<<20), state.DefaultPolicies{}, time.Now, log),
		Inventory: inventory.NewService(inventory.Off{}),
		Runs:      world.Service, Verifier: oneKey{key}, Log: log, Now: time.Now, MaxStateBytes: 1 << 20,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.asking(router, key)
	return world
}

// executes carries out the next stage, as soon as it waits.
func executes(t *testing.T, w *runworld.World, do func(*runworld.Executor)) {
	go func() { do(w.Await(t, acme)) }()
}

// A plan shows its log and its changes, and says by its exit code whether there are any.
func TestRunPlan(t *testing.T) {
	s := newShell(t)
	w := s.keepingRuns()
	executes(t, w, func(e *runworld.Executor) { e.Log("\x1b[1mplanning\x1b[0m\n"); e.Plan(2) })
	code, out, errs := s.run("run", "plan", "prod/network")
	if code != 2 || !strings.Contains(out, "planning\n") || !strings.Contains(out, "+ terraform_data.r1\n") ||
		!strings.Contains(out, "Plan: 2 to add, 0 to change, 0 to destroy.\n") || strings.Contains(out, "\x1b") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	executes(t, w, func(e *runworld.Executor) { e.Plan(0) })
	if code, out, errs := s.run("run", "plan", "prod/network"); code != 0 || !strings.Contains(out, "No changes.\n") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	executes(t, w, func(e *runworld.Executor) {
		if e.Kind != "drift" || e.Stage != "plan" {
			t.Errorf("with --refresh-only it is the %s of a run of kind %s", e.Stage, e.Kind)
		}
		e.Plan(1)
	})
	if code, out, errs := s.run("run", "plan", "prod/network", "--refresh-only"); code != 2 ||
		!strings.Contains(errs+out, ": drift of prod/network.") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	s.refuse(exitFailed, "400 run_invalid", "run", "plan", "prod/network", "--refresh-only", "--no-refresh")
	s.refuse(exitFailed, "unknown flag", "run", "apply", "prod/network", "--refresh-only")
	s.refuse(exitFailed, "unknown flag", "run", "plan", "prod/network", "--auto-approve") // not 2, which means changes
	s.refuse(exitFailed, "404 workspace_not_found", "run", "plan", "absent")
}

// A message of several lines is shown in several lines, and a row of a table in one where no terminal is.
func TestLinesAndRows(t *testing.T) {
	s := newShell(t)
	w := s.keepingRuns()
	w.Terms.Approvals = 1
	executes(t, w, func(e *runworld.Executor) { e.Plan(1) })
	_, _, errs := s.run("run", "apply", "prod/network", "--message", strings.Repeat("a long message ", 8))
	if strings.Contains(errs, `\n`) || !strings.Contains(errs, "say\n  holdfast run approve ") {
		t.Errorf("it says\n%s", errs)
	}
	_, out, _ := s.run("run", "list")
	if rows := strings.Split(strings.TrimSpace(out), "\n"); len(rows) != 2 || !strings.Contains(rows[1], "prod/network") ||
		strings.Contains(out, "…") {
		t.Errorf("run list:\n%s", out)
	}
	facts := runFacts(api.Run{ID: "r", Reason: "the tool says:\n  line 2", Diagnostics: []api.Diagnostic{
		{Severity: "error", Summary: "no", Detail: "first\nsecond"}}})
	var shown strings.Builder
	if err := s.app(&shown, io.Discard).showFacts(facts); err != nil || strings.Contains(shown.String(), `\n`) ||
		!strings.Contains(shown.String(), "the tool says:\n  ") || !strings.Contains(shown.String(), "first\n  ") {
		t.Errorf("%v\n%s", err, shown.String())
	}
}

// An apply is approved by what "run approve" says, and shows its outputs.
func TestRunApply(t *testing.T) {
	s := newShell(t)
	w := s.keepingRuns()
	executes(t, w, func(e *runworld.Executor) { e.Plan(1) })
	code, _, errs := s.run("run", "apply", "prod/network")
	if code != exitFailed || !strings.Contains(errs, "holdfast run approve ") ||
		!strings.Contains(errs, "nothing was applied yet") {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	id := strings.Fields(errs)[1]
	id = strings.TrimSuffix(id, ":")
	s.refuse(exitUsage, "confirm with --yes", "run", "approve", id)
	s.must("run", "approve", id, "--yes")
	w.Claim(t, acme).Apply(`{"id":{"sensitive":false,"type":"string","value":"r-1"},"password":{"sensitive":true,"type":"string","value":"hunter2"}}`)
	if _, out, _ := s.run("run", "outputs", id); !strings.Contains(out, `"r-1"`) || strings.Contains(out, "hunter2") {
		t.Errorf("outputs: %s", out)
	}
	if _, out, _ := s.run("run", "list"); !strings.Contains(out, id) || !strings.Contains(out, "succeeded") {
		t.Errorf("list: %s", out)
	}
}

func TestPools(t *testing.T) {
	s := newShell(t)
	s.keepingRuns()
	code, out, _ := s.run("pool", "create", "eu", "--workspaces", "prod/*")
	if code != 0 || !strings.HasPrefix(out, "hfp_") {
		t.Fatalf("exit %d: %s", code, out)
	}
	s.refuse(exitFailed, "409 pool_exists", "pool", "create", "eu")
	if _, again, _ := s.run("pool", "rotate", "eu"); again == out {
		t.Error("the token is the same")
	}
	if _, out, _ := s.run("pool", "list"); !strings.Contains(out, "prod/*") {
		t.Errorf("list: %s", out)
	}
	s.refuse(exitUsage, "confirm with --yes", "pool", "remove", "eu")
	s.must("pool", "remove", "eu", "--yes")
}
