package runs_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/internal/runworld"
	"github.com/holdfast/holdfast/runs"
)

// A sweep doesn't wait for the memory to look at a plan: others' executors are found lost meanwhile, and
// the plan is looked at when there is memory. It is not taken for lost because of that.
func TestSweepWaitsForNoMemory(t *testing.T) {
	w, caller := runworld.New(t), auth.Principal{Org: uuid.New(), KeyID: "k1", Grant: auth.Grant{Role: auth.Owner}}
	order := func(workspace string) runs.Ref {
		run, err := w.Create(t.Context(), caller, api.RunOrder{Workspace: workspace, Kind: "apply"}, "")
		if err != nil {
			t.Fatal(err)
		}
		return run.Ref()
	}
	planned := order("planned")
	w.Claim(t, caller.Org).Plan(1)
	status := func(ref runs.Ref) runs.Status {
		run, err := w.Service.Store.Run(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		return run.Status
	}
	_, err := w.Service.Store.Update(t.Context(), planned, func(r runs.Run) (runs.Change, error) {
		r.Status, r.Pin, r.LeaseUntil = runs.Checking, nil, w.Now()
		return runs.Change{Run: r}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	silent := order("silent")
	w.Claim(t, caller.Org)
	memory, other := budget.New(1<<20, "bytes"), budget.Share{Org: uuid.New()}
	memory.Force(other, 1<<20)
	w.Memory = memory
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second) // who waits, waits for longer
	defer stop()
	for range 12 {
		w.Jump(5 * time.Second)
		if err := w.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if status(planned) != runs.Checking || status(silent) != runs.Retrying {
		t.Errorf("without memory the plan is %s, and the one whose executor is silent %s", status(planned), status(silent))
	}
	memory.Release(other, 1<<20)
	if err := w.Sweep(ctx); err != nil || status(planned) != runs.AwaitingApproval {
		t.Errorf("with memory the plan is %s, %v", status(planned), err)
	}
}
