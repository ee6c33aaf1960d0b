package layers_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/layers"
)

// waits has the last run wait for a person.
func (w *world) waits() {
	r := w.last()
	w.mu.Lock()
	defer w.mu.Unlock()
	r.out.Planned, r.out.Changes, r.out.Digest, r.out.Waits = w.now, true, "d1", true
}

// pushed is push, with the layers told.
func (w *world) pushed(paths ...string) string {
	w.t.Helper()
	commit := w.push(paths...)
	if err := w.service().Pushed(w.t.Context(), layers.Ref{Org: w.org, Name: "infra"}); err != nil {
		w.t.Fatal(err)
	}
	return commit
}

// A run that waits for a person is stale when there is a newer commit that changes the layer, wherever the process is
// killed meanwhile. The newer one is planned, once.
func TestNewerCommitOvertakesWhatWaits(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	for dies := 0; ; dies++ {
		w := newWorld(t)
		w.add(func(s *layers.Settings) { s.Remediation = layers.Propose })
		w.settle(w.service())
		w.waits()
		w.pass(3 * time.Second)
		other := w.pushed("docs/README.md")
		w.settle(w.service())
		l := w.want(layers.ApplyNeeded, 1, layers.WantPropose)
		if l.Run == nil || l.Facts.Branch.ID != other || l.Facts.Relevant.ID == other {
			t.Fatalf("%+v, %+v", l.Run, l.Facts)
		}
		second := w.pushed("modules/m/main.tf")
		over := !w.sweepDying(dies)
		w.pass(2 * time.Minute)
		w.settle(w.service())
		l = w.want(layers.PlanNeeded, 2, layers.WantPropose)
		if was := w.order[0].out; was.End != layers.Stale || !strings.Contains(was.Reason, second[:12]) {
			t.Fatalf("killed at call %d: the first run is %+v", dies, was)
		}
		if l.Run == nil || l.Run.Commit != second || l.Facts.Relevant.ID != second {
			t.Fatalf("killed at call %d: %+v, %+v", dies, l.Run, l.Facts)
		}
		if over {
			return
		}
		if dies > 100 {
			t.Fatal("the flow has no end")
		}
	}
}

// A plan that waits is stale when its branch is gone, and nothing of what the branch had is planned, until it is back.
func TestBranchIsGoneUnderAPlanThatWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(func(s *layers.Settings) { s.Remediation = layers.Propose })
	w.settle(w.service())
	w.waits()
	w.branchless = true
	w.pass(3 * time.Second)
	w.settle(w.service())
	if was := w.order[0].out; was.End != layers.Stale || !strings.Contains(was.Reason, "no branch main any more") {
		t.Errorf("the run is %+v", was)
	}
	w.pass(1000 * time.Hour)
	w.settle(w.service())
	if l := w.layer(); len(w.order) != 1 || l.Run != nil || !strings.Contains(l.Says, "there is no branch main") {
		t.Errorf("there are %d runs, and the layer says %q", len(w.order), l.Says)
	}
	w.branchless = false
	w.pass(time.Hour)
	w.settle(w.service())
	if len(w.order) != 2 {
		t.Errorf("with the branch there are %d runs", len(w.order))
	}
}

// A repository that can't be read leaves what waits as it is.
func TestTroubleOvertakesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(func(s *layers.Settings) { s.Remediation = layers.Propose })
	w.settle(w.service())
	w.waits()
	w.pushed("modules/m/main.tf")
	gone := false
	s := w.with(odd{repositories: repositories{w}, onRead: func() { gone = true },
		onHead: func(context.Context, uuid.UUID) error { return fault.New(fault.RepositoryFailed, "it is away") }})
	w.settle(s)
	l := w.want(layers.ApplyNeeded, 1, layers.WantPropose)
	if l.Run == nil || gone || w.order[0].out.End != "" {
		t.Errorf("%+v, %+v", l.Run, w.order[0].out)
	}
}
