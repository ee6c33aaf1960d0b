package runs_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/internal/runworld"
	"github.com/holdfast/holdfast/runs"
)

// decides is a service outside, of every organization.
type decides struct {
	none, failOpen bool
	answer         func(ctx context.Context, q api.DecisionQuestion) (string, error)
	mu             sync.Mutex
	asked          []api.DecisionQuestion
}

// Decider implements runs.Deciders.
func (d *decides) Decider(uuid.UUID) (failOpen, some bool) { return d.failOpen, !d.none }

// Ask implements runs.Deciders.
func (d *decides) Ask(ctx context.Context, _ uuid.UUID, q api.DecisionQuestion) ([]byte, error) {
	d.mu.Lock()
	d.asked = append(d.asked, q)
	d.mu.Unlock()
	text, err := d.answer(ctx, q)
	return []byte(text), err
}

func always(text string) func(context.Context, api.DecisionQuestion) (string, error) {
	return func(context.Context, api.DecisionQuestion) (string, error) { return text, nil }
}

// confirmed has somebody confirm a plan, which now takes nobody else.
func confirmed(t *testing.T, w *runworld.World, run runs.Run) {
	t.Helper()
	by := auth.Principal{Org: run.Org, KeyID: "author", Grant: auth.Grant{Role: auth.Owner}}
	after, err := w.Approve(t.Context(), by, run.ID, api.Decision{Digest: run.Pin.Digest})
	if err != nil || after.Status != runs.Confirmed {
		t.Errorf("%s (%s), %v", after.Status, after.Reason, err)
	}
}

// askedIn has a run planned, and time go on until its service has answered, or nobody asks it any more.
func askedIn(t *testing.T, w *runworld.World, d *decides, later time.Duration) runs.Run {
	t.Helper()
	w.Deciders, w.Terms.AutoApply = d, "always"
	_, run := planIn(t, w, "apply")
	return w.Settle(t, run, later)
}

// Whatever a service says that is not APPROVED, nothing is applied; and what it is asked has the plan's digest.
func TestOutsideService(t *testing.T) {
	fails := func(context.Context, api.DecisionQuestion) (string, error) {
		return "", errors.New("the answer was 500")
	}
	for name, c := range map[string]struct {
		answer   func(context.Context, api.DecisionQuestion) (string, error)
		failOpen bool
		goesOn   bool
		state    string
	}{
		"approves":         {always(`{"decision":"APPROVED"}`), false, true, runs.OutsideApproved},
		"rejects":          {always(`{"decision":"REJECTED","reason":"frozen"}`), true, false, runs.OutsideRejected},
		"fails":            {fails, false, false, runs.OutsideFailed},
		"fails open":       {fails, true, true, runs.OutsideFailed},
		"says nothing":     {always(``), false, false, runs.OutsideFailed},
		"says something":   {always(`<html>APPROVED</html>`), false, false, runs.OutsideFailed},
		"says both":        {always(`{"decision":"APPROVED"}{"decision":"APPROVED"}`), false, false, runs.OutsideFailed},
		"approves by halt": {always(`{"decision":"APPROVE`), false, false, runs.OutsideFailed},
	} {
		w, d := runworld.New(t), &decides{answer: c.answer, failOpen: c.failOpen}
		w.Insights = &looks{}
		run := askedIn(t, w, d, 10*time.Minute)
		if run.Outside.State != c.state || !slices.Contains(w.Actions(), audit.RunDecide) {
			t.Errorf("%s: %s (%s), %+v", name, run.Status, run.Reason, run.Outside)
		}
		if said := run.Wire().Outside; said == nil || said.State != c.state || said.Tries != run.Outside.Tries {
			t.Errorf("%s: it shows %+v", name, said)
		}
		if c.goesOn {
			confirmed(t, w, run)
		} else if run.Status != runs.Discarded || run.Outside.Stopped != (c.state == runs.OutsideFailed) {
			t.Errorf("%s: %s, %+v", name, run.Status, run.Outside)
		}
		for _, q := range d.asked {
			// The plan file is encrypted, so nobody is told what its executor says that it means.
			if q.PlanDigest != run.Pin.Digest || q.ID != d.asked[0].ID || q.Insight != nil || q.Run != run.ID {
				t.Errorf("%s: asked %+v", name, q)
			}
		}
	}
}

// A server that dies in the middle of a question has it asked again by the next one, and by one at a time.
func TestOutsideServiceIsAskedAgain(t *testing.T) {
	w := runworld.New(t)
	begun := make(chan struct{})
	dying, die := context.WithCancel(t.Context())
	d := &decides{answer: func(ctx context.Context, _ api.DecisionQuestion) (string, error) {
		close(begun)
		<-ctx.Done()
		return `{"decision":"REJECTED"}`, nil // which nobody reads any more
	}}
	w.Deciders, w.Terms.AutoApply = d, "always"
	_, run := planIn(t, w, "apply")
	if err := w.Sweep(dying); err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := w.Sweep(t.Context()); err != nil { // it is asked already
		t.Fatal(err)
	}
	die()
	w.Rest()
	w.Restart()
	d.answer = always(`{"decision":"APPROVED"}`)
	if run = w.Settle(t, run, 5*time.Second); run.Status != runs.AwaitingApproval || len(d.asked) != 1 {
		t.Errorf("%s, asked %d times", run.Status, len(d.asked))
	}
	if run = w.Settle(t, run, 3*time.Minute); run.Outside.State != runs.OutsideApproved || run.Outside.Tries != 2 {
		t.Errorf("%s, %+v", run.Status, run.Outside)
	}
	confirmed(t, w, run)
}

// An organization that has its service taken out has nobody asked any more.
func TestOutsideServiceIsTakenOut(t *testing.T) {
	w := runworld.New(t)
	d := &decides{answer: func(context.Context, api.DecisionQuestion) (string, error) { return "", errors.New("no") }}
	run := askedIn(t, w, d, 5*time.Second)
	d.none = true
	if run = w.Settle(t, run, 5*time.Minute); run.Outside.State != runs.OutsideDropped {
		t.Errorf("%s, %+v", run.Status, run.Outside)
	}
	confirmed(t, w, run)
}

// What only plans, and what changes nothing, is nobody's decision.
func TestWhatIsNotAskedAbout(t *testing.T) {
	w := runworld.New(t)
	w.Deciders = &decides{answer: always(`{"decision":"REJECTED"}`)}
	if _, run := planIn(t, w, "plan"); run.Status != runs.Succeeded || run.Outside != nil {
		t.Errorf("%s, %+v", run.Status, run.Outside)
	}
}
