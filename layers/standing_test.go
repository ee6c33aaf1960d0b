package layers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/layers"
)

// stands has the state be another one, which the layer hears of.
func (w *world) stands(s *layers.Service, at layers.StateFact) {
	w.t.Helper()
	w.mu.Lock()
	w.standing = at
	w.mu.Unlock()
	if err := s.StateMoved(w.t.Context(), layers.Ref{Org: w.org, Name: "prod"}); err != nil {
		w.t.Fatal(err)
	}
	w.settle(s)
}

// applied is a layer whose apply has left version 2 of its state.
func applied(t *testing.T, remediation layers.Remediation, change func(*layers.Settings)) (*world, *layers.Service) {
	t.Helper()
	w := newWorld(t)
	s := w.service()
	w.add(func(s *layers.Settings) {
		s.Remediation = remediation
		change(s)
	})
	w.standing.Version = 1
	w.settle(s)
	w.standing.Version = 2
	w.ends(layers.EndedWell, func(r *run) {
		r.out.Changes, r.out.Digest, r.out.Base, r.out.After = true, "d1", 1, 2
	})
	w.pass(3 * time.Second)
	w.settle(s)
	w.want(layers.Idle, 1, w.last().Want)
	return w, s
}

func nothing(*layers.Settings) {}

// A state that somebody else has changed is no longer what the layer's own apply has left.
func TestStateOfOthersIsPlanned(t *testing.T) {
	t.Parallel()
	w, s := applied(t, layers.Auto, nothing)
	w.stands(s, layers.StateFact{Version: 2})
	w.want(layers.Idle, 1, layers.WantApply)

	w.stands(s, layers.StateFact{Version: 3, Applying: "X"})
	if l := w.want(layers.PlanNeeded, 1, layers.WantApply); !strings.Contains(l.Says, "run X changes the state") {
		t.Error(l.Says)
	}
	w.stands(s, layers.StateFact{Version: 4})
	l := w.want(layers.PlanNeeded, 2, layers.WantApply)
	if c := l.Conditions.Of(layers.IsPlanArtifactUpToDate); c.Reason != "StateMoved" || !strings.Contains(l.Run.Why,
		"version 4") {
		t.Errorf("%+v, %s", c, l.Run.Why)
	}
	w.ends(layers.EndedWell, func(r *run) { r.out.Base = 4 })
	w.pass(3 * time.Second)
	w.settle(s)
	w.want(layers.Idle, 2, layers.WantApply)
}

// What an open pull request has applied is planned, and is not undone before that is closed.
func TestStateOfAnOpenPullRequestIsNotUndone(t *testing.T) {
	t.Parallel()
	for remediation, want := range map[layers.Remediation]layers.Want{layers.Auto: layers.WantApply,
		layers.Propose: layers.WantPropose} {
		w, s := applied(t, remediation, nothing)
		w.stands(s, layers.StateFact{Version: 3, Pull: "infra#7"})
		w.want(layers.PlanNeeded, 2, layers.WantPlan)
		w.ends(layers.EndedWell, func(r *run) { r.out.Changes, r.out.Digest, r.out.Base = true, "undo", 3 })
		w.pass(3 * time.Second)
		w.settle(s)
		if l := w.want(layers.ApplyNeeded, 2, layers.WantPlan); !strings.Contains(l.Says, "infra#7") {
			t.Error(l.Says)
		}
		w.mu.Lock()
		w.standing.Pull = "" // it is closed
		w.mu.Unlock()
		w.pass(2 * time.Minute)
		w.settle(s)
		w.want(layers.ApplyNeeded, 3, want)
	}
}

// checked has the layer's next check end so.
func (w *world) checked(s *layers.Service, change func(*run)) {
	w.t.Helper()
	w.pass(23 * time.Minute)
	w.settle(s)
	if w.last().Want != layers.WantCheck {
		w.t.Fatalf("%+v", w.last().Order)
	}
	w.ends(layers.EndedWell, func(r *run) {
		r.out.Base = 2
		change(r)
	})
	w.pass(3 * time.Second)
	w.settle(s)
}

// A check is a whole plan: what differs between configuration and state is found, though nothing was changed outside.
func TestCheckFindsWhatAPlanWouldDo(t *testing.T) {
	t.Parallel()
	w, s := applied(t, layers.Propose, nothing)
	w.checked(s, func(*run) {})
	if w.want(layers.Idle, 2, layers.WantCheck); !w.last().Whole {
		t.Error("the check is no whole plan")
	}
	w.checked(s, func(r *run) { r.out.Changes, r.out.Digest = true, "the data source" })
	w.want(layers.ApplyNeeded, 4, layers.WantPropose)

	w, s = applied(t, layers.Propose, func(s *layers.Settings) { s.Drift.RefreshOnly = true })
	w.checked(s, func(r *run) { r.out.Changes = true })
	if w.want(layers.Idle, 2, layers.WantCheck); w.last().Whole {
		t.Error("the check is a whole plan, though its layer wants none")
	}
}

// A whole plan undoes what is expected and ignored too: that alone needs no apply.
func TestCheckExcusesWhatIsExpected(t *testing.T) {
	t.Parallel()
	undone := func(address string) layers.Changed {
		c := drifted(address, "b")
		c.Before, c.After = c.After, c.Before
		return c
	}
	w, s := applied(t, layers.Auto, func(s *layers.Settings) {
		s.Ignore = []layers.Rule{{Address: "local_file.a", Attribute: "content"}}
	})
	w.checked(s, func(r *run) {
		r.out.Changes, r.out.Digest = true, "undo"
		r.found, r.planned = []layers.Changed{drifted("local_file.a", "b")}, []layers.Changed{undone("local_file.a")}
	})
	w.want(layers.Idle, 2, layers.WantCheck)
	w.checked(s, func(r *run) {
		r.out.Changes, r.out.Digest = true, "undo and more"
		r.found = []layers.Changed{drifted("local_file.a", "b")}
		r.planned = []layers.Changed{undone("local_file.a"), undone("local_file.c")}
	})
	w.want(layers.ApplyNeeded, 4, layers.WantApply)
}

// The conditions of a layer's run are those of the run: what waits is not at work, and what has ended is there still.
func TestRunConditionsAreTheRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.service()
	w.add(nothing)
	w.settle(s)
	state := func(want layers.RunState, running layers.Status) {
		t.Helper()
		w.pass(2 * time.Second)
		w.settle(s)
		_, set := w.layer().RunConditions(w.Now())
		if got := layers.RunStateOf(set); got != want || set.Of(layers.IsRunning).Status != running {
			t.Errorf("%s, %+v; want %s", got, set, want)
		}
	}
	stands := func(at layers.RunStanding) {
		r := w.last()
		w.mu.Lock()
		defer w.mu.Unlock()
		r.out.Standing = at
	}
	state(layers.Initial, layers.False)
	stands(layers.RunStanding{Executed: true, Active: true})
	state(layers.Running, layers.True)
	stands(layers.RunStanding{Executed: true, Tries: 1, RetryAt: w.Now().Add(time.Minute)})
	state(layers.FailureGracePeriod, layers.False)
	w.pass(time.Hour)
	state(layers.Retrying, layers.False)
	stands(layers.RunStanding{Executed: true, Planned: true})
	state(layers.Succeeded, layers.False)

	w.ends(layers.EndedBad, func(r *run) { r.out.Standing = layers.RunStanding{Executed: true} })
	state(layers.FailureGracePeriod, layers.False)
	if l := w.layer(); l.Run != nil || l.Last == nil || l.Last.ID != "R1" {
		t.Errorf("%+v", l)
	}
	w.pushed("envs/prod/main.tf") // the failures of another commit are none of its run
	state(layers.Initial, layers.False)
	w.ends(layers.EndedWell, func(r *run) { r.out.Standing = layers.RunStanding{Executed: true} })
	state(layers.Succeeded, layers.False)
}
