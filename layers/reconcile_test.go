package layers_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/layers"
)

// planAndApply has the world go from nothing to a layer that is as its repository says.
func (w *world) planAndApply(s *layers.Service) {
	w.t.Helper()
	w.settle(s)
	w.ends(layers.EndedWell, func(r *run) { r.out.Changes, r.out.Digest = true, "d1" })
	w.pass(3 * time.Second)
	w.settle(s)
}

func (w *world) want(state layers.State, runs int, last layers.Want) layers.Layer {
	w.t.Helper()
	l := w.layer()
	if l.State != state || len(w.order) != runs || runs > 0 && w.last().Want != last {
		w.t.Fatalf("%s (%s), %d runs, %+v; want %s, %d and %s", l.State, l.Says, len(w.order), l.Run, state, runs, last)
	}
	return l
}

func TestCommitIsPlannedAndApplied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.service()
	w.add(func(s *layers.Settings) { s.Remediation = layers.Auto })
	w.settle(s)
	l := w.want(layers.PlanNeeded, 1, layers.WantApply)
	if !strings.Contains(l.Says, "R1") || !w.last().Commit || w.last().MaxChanges != layers.DefaultMaxChanges {
		t.Errorf("%s, %+v", l.Says, w.last())
	}
	w.ends(layers.EndedWell, func(r *run) { r.out.Changes, r.out.Digest = true, "d1" })
	w.pass(3 * time.Second)
	w.settle(s)
	w.want(layers.Idle, 1, layers.WantApply)

	w.push("docs/README.md")
	if err := s.Pushed(t.Context(), layers.Ref{Org: w.org, Name: "infra"}); err != nil {
		t.Fatal(err)
	}
	w.settle(s)
	l = w.want(layers.Idle, 1, layers.WantApply)
	if v := l.Commits[0]; v.Relevant || !strings.Contains(v.Why, "none of the 1 changed paths") {
		t.Errorf("%+v", v)
	}
	relevant := w.push("modules/m/main.tf")
	_ = s.Pushed(t.Context(), layers.Ref{Org: w.org, Name: "infra"})
	w.settle(s)
	l = w.want(layers.PlanNeeded, 2, layers.WantApply)
	if v := l.Commits[0]; !v.Relevant || v.ID != relevant || !strings.Contains(v.Why, "modules/m/main.tf: module m") {
		t.Errorf("%+v", v)
	}
	if got := w.last().Message; !strings.Contains(got, "is not planned yet") || !strings.Contains(got, "module m") {
		t.Errorf("the run doesn't say why it is made: %s", got)
	}
}

func TestDryStaysApplyNeeded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.service()
	w.add(func(*layers.Settings) {})
	w.planAndApply(s)
	l := w.want(layers.ApplyNeeded, 1, layers.WantPlan)
	w.pass(17 * time.Minute)
	w.settle(s)
	w.want(layers.ApplyNeeded, 1, layers.WantPlan)
	w.pass(10 * time.Minute)
	w.settle(s)
	w.want(layers.PlanNeeded, 2, layers.WantCheck)
	w.ends(layers.EndedWell, func(r *run) { r.out.Changes, r.out.Digest = true, "d1" })
	w.pass(3 * time.Second)
	w.settle(s)
	again := w.want(layers.ApplyNeeded, 2, layers.WantCheck)
	before, after := l.Conditions.Of(layers.IsApplyUpToDate), again.Conditions.Of(layers.IsApplyUpToDate)
	if after.Status != layers.False || !after.LastTransition.Equal(before.LastTransition) {
		t.Errorf("%+v, before %+v", after, before)
	}
}

func TestDriftIsSeenProposedAndRemedied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.service()
	w.add(func(s *layers.Settings) { s.Remediation = layers.Propose })
	w.planAndApply(s)
	w.want(layers.Idle, 1, layers.WantPropose)
	w.pass(23 * time.Minute)
	w.settle(s)
	w.want(layers.PlanNeeded, 2, layers.WantCheck)
	w.ends(layers.EndedWell, func(r *run) { r.found = []layers.Changed{drifted("local_file.a", "b")} })
	w.pass(3 * time.Second)
	w.settle(s)
	l := w.want(layers.PlanNeeded, 3, layers.WantPropose)
	if len(l.Drifted) != 1 || strings.Join(l.Drifted[0].Attributes, " ") != "content" || l.Drifted[0].ID != "1" ||
		!l.Drifted[0].Since.Equal(l.Facts.Drift.At) {
		t.Errorf("%+v", l.Drifted)
	}
	if w.told(audit.DriftFind) != 1 || w.told(audit.DriftHeal) != 0 {
		t.Errorf("%+v", w.events)
	}
	w.mu.Lock()
	w.order[2].out.Planned, w.order[2].out.Changes, w.order[2].out.Digest = w.now, true, "d2" // it waits for a person
	w.mu.Unlock()
	w.pass(3 * time.Second)
	w.settle(s)
	w.want(layers.ApplyNeeded, 3, layers.WantPropose)
	w.ends(layers.EndedWell, func(*run) {})
	w.pass(3 * time.Second)
	w.settle(s)
	l = w.want(layers.Idle, 3, layers.WantPropose)
	if len(l.Drifted) != 0 || w.told(audit.DriftFind) != 1 || w.told(audit.DriftHeal) != 1 {
		t.Errorf("%+v, %+v", l.Drifted, w.events)
	}
}

func TestExpectedDriftIsNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, owner := w.service(), w.principal(auth.Owner)
	w.add(func(s *layers.Settings) {
		s.Remediation, s.Ignore = layers.Auto, []layers.Rule{{Address: "local_file.ignored", Attribute: "cont*"}}
	})
	e := layers.Expectation{Rule: layers.Rule{Address: "local_file.a"}, Owner: "ann", Reason: "a test",
		Expires: w.Now().Add(2 * time.Hour)}
	if _, err := s.Expect(t.Context(), owner, "prod", e); err != nil {
		t.Fatal(err)
	}
	w.planAndApply(s)
	check := func(found ...layers.Changed) {
		w.pass(23 * time.Minute)
		w.settle(s)
		w.ends(layers.EndedWell, func(r *run) { r.found = found })
		w.pass(3 * time.Second)
		w.settle(s)
	}
	check(drifted("local_file.a", "b"), drifted("local_file.ignored", "b"))
	l := w.want(layers.Idle, 2, layers.WantCheck)
	if len(l.Drifted) != 2 || l.Drifted[0].Expected == "" || !l.Drifted[1].Ignored || w.told(audit.DriftFind) != 0 {
		t.Errorf("%+v", l.Drifted)
	}
	w.pass(2 * time.Hour) // it has expired
	check(drifted("local_file.a", "b"))
	w.want(layers.PlanNeeded, 4, layers.WantApply)
	if w.told(audit.DriftFind) != 1 {
		t.Error(w.events)
	}
	for _, broken := range []layers.Expectation{
		{Rule: e.Rule, Owner: "ann", Reason: "r"}, {Rule: e.Rule, Owner: "ann", Expires: w.Now().Add(time.Hour)},
		{Rule: e.Rule, Reason: "r", Expires: w.Now().Add(time.Hour)},
		{Owner: "ann", Reason: "r", Expires: w.Now().Add(time.Hour)},
		{Rule: e.Rule, Owner: "ann", Reason: "r", Expires: w.Now().AddDate(2, 0, 0)},
	} {
		if _, err := s.Expect(t.Context(), owner, "prod", broken); !fault.Is(err, fault.LayerInvalid) {
			t.Errorf("%+v: %v", broken, err)
		}
	}
}

// A plan that fails goes through grace and retry to its limit, though the server is another one each time.
func TestFailingPlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(func(*layers.Settings) {})
	for n := 1; n <= 5; n++ {
		w.settle(w.service())
		w.want(layers.PlanNeeded, n, layers.WantPlan)
		w.ends(layers.EndedBad, func(r *run) { r.out.Reason = "no provider" })
		w.pass(3 * time.Second)
		w.settle(w.service())
		l := w.layer()
		if n < 5 {
			w.want(layers.PlanNeeded, n, layers.WantPlan)
			w.pass(l.Facts.Failures.RetryAt.Sub(w.Now()) - time.Microsecond)
			w.settle(w.service())
			w.want(layers.PlanNeeded, n, layers.WantPlan)
			w.pass(time.Microsecond)
		}
	}
	w.pass(1000 * time.Hour)
	w.settle(w.service())
	w.want(layers.MaxRetriesReached, 5, layers.WantPlan)
	if _, err := w.service().Sync(t.Context(), w.principal(auth.Operator), "prod"); err != nil {
		t.Fatal(err)
	}
	w.settle(w.service())
	w.want(layers.PlanNeeded, 6, layers.WantPlan)
}

func TestChecksHaveAShare(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.service()
	w.share = 0
	w.add(func(*layers.Settings) {})
	w.planAndApply(s)
	w.pass(time.Hour)
	w.settle(s)
	if l := w.want(layers.PlanNeeded, 1, layers.WantPlan); !strings.Contains(l.Says, "waits for its turn") {
		t.Error(l.Says)
	}
	w.share = 1
	w.pass(time.Minute)
	w.settle(s)
	w.want(layers.PlanNeeded, 2, layers.WantCheck)
}

// Wherever the process is killed, the next one goes on, and each run is made once.
func TestKilledAtEachStep(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	for dies := 1; ; dies++ {
		w := newWorld(t)
		w.add(func(s *layers.Settings) { s.Remediation = layers.Auto })
		killed := false
		flow := func() {
			killed = w.sweepDying(dies) || killed
			w.pass(2 * time.Minute) // what could not be done is tried again
			s := w.service()
			for range 6 { // no time passes that a check would come by
				_ = s.Sweep(t.Context())
			}
		}
		flow()
		w.want(layers.PlanNeeded, 1, layers.WantApply)
		w.ends(layers.EndedWell, func(r *run) { r.out.Changes, r.out.Digest = true, "d" })
		w.pass(3 * time.Second)
		flow()
		l := w.want(layers.Idle, 1, layers.WantApply)
		if l.Facts.Applied.Run != "R1" || l.Run != nil {
			t.Fatalf("killed at call %d: %+v", dies, l)
		}
		if !killed {
			return
		}
		if dies > 100 {
			t.Fatal("the flow has no end")
		}
	}
}

// Two nodes that look at the same layers at once make each run once.
func TestTwoNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 5 {
		s := settings(func(s *layers.Settings) { s.Path = "envs/prod" })
		_, err := w.service().Add(t.Context(), w.principal(auth.Owner), layers.New{Name: fmt.Sprint("l", i), Settings: s})
		if err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for range 2 {
		node := w.service()
		wg.Go(func() {
			for range 10 {
				if err := node.Sweep(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	by := map[string]int{}
	for _, r := range w.order {
		by[r.Workspace]++
	}
	if len(w.order) != 5 || len(by) != 5 {
		t.Errorf("%d runs: %v", len(w.order), by)
	}
}

func TestRights(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add(func(*layers.Settings) {})
	s, ctx, auto := w.service(), t.Context(), settings(func(s *layers.Settings) { s.Remediation = layers.Auto })
	for _, role := range []auth.Role{auth.Reader, auth.Approver, auth.Auditor} {
		p := w.principal(role)
		for name, err := range map[string]error{
			"add":    second(s.Add(ctx, p, layers.New{Name: "x", Settings: auto})),
			"change": second(s.Configure(ctx, p, "prod", func(*layers.Settings) {})),
			"remove": s.Remove(ctx, p, "prod"), "sync": second(s.Sync(ctx, p, "prod")),
			"expect": second(s.Expect(ctx, p, "prod", layers.Expectation{})), "unexpect": second(s.Unexpect(ctx, p, "prod",
				"e")),
		} {
			if !fault.Is(err, fault.RightMissing) {
				t.Errorf("%s may %s: %v", role, name, err)
			}
		}
	}
	stranger := w.principal(auth.Owner)
	stranger.Org[0] ^= 1
	if _, err := s.Get(ctx, stranger, "prod"); !fault.Is(err, fault.LayerNotFound) {
		t.Error(err)
	}
	if err := s.Remove(ctx, stranger, "prod"); !fault.Is(err, fault.LayerNotFound) {
		t.Error(err)
	}
	if all, _, err := s.List(ctx, stranger, layers.Query{Limit: 9}); err != nil || len(all) > 0 {
		t.Error(all, err)
	}
}

func second[T any](_ T, err error) error { return err }
