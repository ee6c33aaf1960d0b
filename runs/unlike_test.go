package runs_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/internal/runworld"
	"github.com/holdfast/holdfast/runs"
)

// changing are workspaces in which ann changes a variable right before the variables are read.
type changing struct {
	runs.Workspaces
	next, now bool
}

func (c *changing) Inputs(ctx context.Context, org uuid.UUID, name string) (runs.Inputs, error) {
	in, err := c.Workspaces.Inputs(ctx, org, name)
	if c.now = c.now || c.next; c.now {
		in.Revision, in.Digest = in.Revision+1, "other inputs"
		in.Changed = runs.Changed{What: "the variable region", By: api.Actor{KeyName: "ann"},
			At: time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)}
	}
	return in, err
}

// approved has a plan approved, whose apply waits.
func approved(t *testing.T) (w *runworld.World, caller auth.Principal, run runs.Run, c *changing) {
	t.Helper()
	w, caller = runworld.New(t), auth.Principal{Org: uuid.New(), KeyID: "k1", Grant: auth.Grant{Role: auth.Owner}}
	c = &changing{Workspaces: w.Workspaces}
	w.Workspaces = c
	run, err := w.Create(t.Context(), caller, api.RunOrder{Workspace: "prod/network", Kind: "apply"}, "")
	if err == nil {
		w.Claim(t, caller.Org).Plan(1)
		run, err = w.Get(t.Context(), caller, run.ID)
	}
	if err == nil {
		run, err = w.Approve(t.Context(), caller, run.ID, api.Decision{Digest: run.Pin.Digest})
	}
	if err != nil {
		t.Fatal(err)
	}
	return w, caller, run, c
}

func claimBy(t *testing.T, w *runworld.World, org uuid.UUID, key string) *api.Assignment {
	t.Helper()
	got, err := w.Service.Claim(t.Context(), runs.Worker{ID: "executor", Orgs: []uuid.UUID{org}},
		api.AgentClaim{Key: key, BootID: "boot"})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// wantStale says that a run is out of date because ann has changed the variable.
func wantStale(t *testing.T, w *runworld.World, caller auth.Principal, id string) {
	t.Helper()
	run, err := w.Get(t.Context(), caller, id)
	if err != nil {
		t.Fatal(err)
	}
	if s := run.Stale; run.Status != runs.Outdated || s == nil || s.Because != runs.BySettings || s.By == nil ||
		s.By.KeyName != "ann" ||
		!strings.Contains(run.Reason, "the variable region changed since, by ann") {
		t.Errorf("the run is %s, %q, stale %+v", run.Status, run.Reason, s)
	}
}

// A variable that is changed between an executor's claim and the reading of the variables reaches
// no approved apply.
func TestApplyGetsNoOtherVariablesThanItsPlan(t *testing.T) {
	w, caller, run, c := approved(t)
	c.next = true
	if got := claimBy(t, w, caller.Org, "a"); got != nil {
		t.Fatalf("the %s is given with the inputs %s", got.Stage, got.Inputs)
	}
	wantStale(t, w, caller, run.ID)
}

// The same for an executor that comes back before its tool has begun; one whose tool has begun goes
// on with that.
func TestExecutorThatComesBackGetsNoOtherVariables(t *testing.T) {
	w, caller, run, c := approved(t)
	first := claimBy(t, w, caller.Org, "a")
	c.next = true
	if got := claimBy(t, w, caller.Org, "a"); got != nil {
		t.Fatalf("it is given the %s again", got.Stage)
	}
	wantStale(t, w, caller, run.ID)
	if p, err := w.VerifyRun(t.Context(), first.Token); err == nil {
		if _, err := w.Renew(t.Context(), p, run.ID,
			api.LeaseRenewal{Epoch: first.Epoch, Stage: "apply", Phase: "apply"}); err == nil {
			t.Error("it goes on to apply")
		}
	}
	w, caller, run, c = approved(t)
	first = claimBy(t, w, caller.Org, "a")
	p, err := w.VerifyRun(t.Context(), first.Token)
	if err == nil {
		_, err = w.Renew(t.Context(), p, run.ID, api.LeaseRenewal{Epoch: first.Epoch, Stage: "apply", Phase: "apply"})
	}
	c.next = true
	if again := claimBy(t, w, caller.Org, "a"); err != nil || again == nil || again.Epoch != first.Epoch ||
		again.Inputs == first.Inputs {
		t.Errorf("an executor that applies is given %+v, %v", again, err)
	}
}
