package layers_test

import (
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/layers"
)

// plans has the last run have its plan.
func (w *world) plans(digest string) {
	r := w.last()
	w.mu.Lock()
	defer w.mu.Unlock()
	r.out.Planned, r.out.Changes, r.out.Digest = w.now, true, digest
}

// over has the last run, which has a plan, end, and returns for how long the layer waits behind that.
func (w *world) over(end layers.End) (wait time.Duration) {
	w.t.Helper()
	w.settle(w.service())
	made := len(w.order)
	w.plans("d1")
	w.pass(3 * time.Second)
	w.settle(w.service())
	w.ends(end, func(r *run) { r.out.Planned, r.out.Reason = w.now.Add(-3*time.Second), "it was away" })
	ended := w.Now()
	for w.settle(w.service()); len(w.order) == made && w.Now().Sub(ended) < time.Hour; w.settle(w.service()) {
		w.pass(3 * time.Second)
	}
	return w.Now().Sub(ended)
}

// An apply whose plan is good and that fails each time is tried again later and later, and not without end.
func TestFailingApply(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	w := newWorld(t)
	w.add(func(s *layers.Settings) { s.Remediation, s.Drift.Off = layers.Auto, true })
	var waits []time.Duration
	for range 5 {
		waits = append(waits, w.over(layers.EndedBad))
	}
	if waits[3] < time.Minute || waits[3] < waits[0] || waits[4] < time.Hour {
		t.Errorf("it waits for %v", waits)
	}
	if l := w.want(layers.MaxRetriesReached, 5, layers.WantApply); l.Facts.Plan.Digest != "d1" || l.Facts.Declined != "" {
		t.Errorf("%+v", l.Facts)
	}
	w.pushed("modules/m/main.tf")
	w.settle(w.service())
	w.want(layers.PlanNeeded, 6, layers.WantApply)
	w.ends(layers.EndedWell, func(r *run) { r.out.Changes, r.out.Digest = true, "d2" })
	w.pass(3 * time.Second)
	w.settle(w.service())
	if l := w.want(layers.Idle, 6, layers.WantApply); l.Facts.Failures.Count != 0 {
		t.Errorf("%+v", l.Facts.Failures)
	}
}

// A look at the world that goes well is no apply that does.
func TestLooksBehindAFailedApply(t *testing.T) {
	t.Parallel()
	failed := layers.Facts{Relevant: layers.Commit{ID: "c1"}}.After(layers.Outcome{Run: "R1", Want: layers.WantApply,
		Commit: "c1", Planned: at(1), Changes: true, Ended: at(2), End: layers.EndedBad}, "prod")
	for _, want := range []layers.Want{layers.WantCheck, layers.WantPlan} {
		looked := failed.After(layers.Outcome{Run: "R2", Want: want, Commit: "c1", Planned: at(3), Ended: at(4),
			End: layers.EndedWell}, "prod")
		if looked.Failures.Count != 1 {
			t.Errorf("%s: %+v", want, looked.Failures)
		}
	}
	failed.Failures = layers.Failures{Count: 2, Run: "R1", Commit: "c1", Plan: true}
	for _, want := range []layers.Want{layers.WantPlan, layers.WantPropose} {
		planned := failed.After(layers.Outcome{Run: "R2", Want: want, Commit: "c1", Planned: at(3), Changes: true}, "prod")
		if planned.Failures.Count != 0 {
			t.Errorf("%s: %+v", want, planned.Failures)
		}
	}
}

// Plans that go stale again and again are made later and later: the first one at once, and never no more.
func TestPlansThatGoStale(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	w := newWorld(t)
	w.add(func(s *layers.Settings) { s.Remediation, s.Drift.Off = layers.Propose, true })
	var waits []time.Duration
	for range 8 {
		waits = append(waits, w.over(layers.Stale))
	}
	if waits[0] > 5*time.Second || waits[2] < 10*time.Second || waits[5] < time.Minute || waits[7] > 20*time.Minute {
		t.Errorf("it waits for %v", waits)
	}
	if l := w.want(layers.ApplyNeeded, 9, layers.WantPropose); l.Facts.Failures.Count != 0 {
		t.Errorf("%+v", l.Facts.Failures)
	}
	w.plans("d1")
	w.pass(3 * time.Second)
	w.settle(w.service())
	w.ends(layers.Stale, func(*run) {})
	w.pushed("modules/m/main.tf") // nobody need wait for that
	w.pass(3 * time.Second)
	w.settle(w.service())
	w.want(layers.PlanNeeded, 10, layers.WantPropose)
}
