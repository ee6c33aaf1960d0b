package layers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/layers"
)

// decide is what is to be done about the layer "l".
func decide(s layers.Settings, f layers.Facts, now time.Time) layers.Action {
	return layers.Decide(s, f, layers.Conditions(f, s.Terms("l", f.Checked), now), "l", now)
}

func settings(change func(*layers.Settings)) layers.Settings {
	s := layers.Defaults()
	s.Repository = "infra"
	change(&s)
	return s
}

func TestDecide(t *testing.T) {
	t.Parallel()
	commit := func(f *layers.Facts) { f.Branch.ID, f.Relevant.ID = "c2", "c2" }
	drift := func(f *layers.Facts) { f.Drift = layers.DriftFact{At: at(2), Digest: "x", Count: 1} }
	unapplied := func(f *layers.Facts) { f.Applied = layers.AppliedFact{} }
	failed := func(f *layers.Facts) {
		f.Failures = layers.Failures{Count: 1, Commit: "c1", Plan: true, RetryAt: at(5)}
	}
	never := layers.Window{Kind: layers.Deny, Schedule: "* * * * *", Duration: time.Hour}
	for _, c := range []struct {
		what           string
		facts          func(*layers.Facts)
		dry, prop, aut layers.Want
		closed         layers.Want // auto, where applies are not allowed now
		late           int         // minutes
	}{
		{"idle", func(*layers.Facts) {}, "", "", "", "", 0},
		{"old", func(*layers.Facts) {}, layers.WantCheck, layers.WantCheck, layers.WantCheck, layers.WantCheck, 60},
		{"never planned", func(f *layers.Facts) { *f = layers.Facts{} }, layers.WantPlan, layers.WantPropose,
			layers.WantApply, layers.WantPlan, 0},
		{"commit", commit, layers.WantPlan, layers.WantPropose, layers.WantApply, layers.WantPlan, 0},
		{"drift", drift, layers.WantPlan, layers.WantPropose, layers.WantApply, layers.WantPlan, 0},
		{"not applied", unapplied, "", layers.WantPropose, layers.WantApply, "", 0},
		{"not applied, and old", unapplied, layers.WantCheck, layers.WantCheck, layers.WantCheck, layers.WantCheck, 60},
		{"in grace", failed, "", "", "", "", 0},
		{"behind grace", failed, layers.WantPlan, layers.WantPropose, layers.WantApply, layers.WantPlan, 4},
		{"in grace, and a commit", func(f *layers.Facts) { failed(f); commit(f) }, layers.WantPlan, layers.WantPropose,
			layers.WantApply, layers.WantPlan, 0},
		{"in grace, and asked for", func(f *layers.Facts) { failed(f); f.Sync = layers.SyncFact{At: at(3), By: "ann"} },
			layers.WantPlan, layers.WantPropose, layers.WantApply, layers.WantPlan, 0},
		{"too often", func(f *layers.Facts) { failed(f); f.Failures.Count = 5 }, "", "", "", "", 60},
		{"said no", func(f *layers.Facts) { unapplied(f); f.Declined = f.Plan.Digest }, "", "", "", "", 0},
	} {
		facts, now := planned(), at(3+c.late)
		c.facts(&facts)
		for _, o := range []struct {
			how  string
			want layers.Want
			set  func(*layers.Settings)
		}{
			{"dry", c.dry, func(*layers.Settings) {}},
			{"propose", c.prop, func(s *layers.Settings) { s.Remediation = layers.Propose }},
			{"auto", c.aut, func(s *layers.Settings) { s.Remediation = layers.Auto }},
			{"no apply now", c.closed, func(s *layers.Settings) {
				denied := never
				denied.Actions = []string{layers.ApplyRuns}
				s.Remediation, s.Windows = layers.Auto, []layers.Window{denied}
			}},
			{"nothing now", "", func(s *layers.Settings) {
				s.Remediation, s.Windows = layers.Auto, []layers.Window{never}
			}},
		} {
			got := decide(settings(o.set), facts, now)
			if got.Run != o.want || got.Why == "" {
				t.Errorf("%s, %s: %+v, want %q", c.what, o.how, got, o.want)
			}
		}
	}
}

// A plan that fails is tried again behind a grace that grows, five times in all; what then comes is a commit or a
// person.
func TestFailuresReachTheirLimit(t *testing.T) {
	t.Parallel()
	s, f, now := settings(func(*layers.Settings) {}), layers.Facts{Relevant: layers.Commit{ID: "c1"}}, at(0)
	terms := func() layers.Terms { return s.Terms("l", f.Checked) }
	state := func(active bool) layers.RunState {
		standing := layers.RunStanding{Executed: true, Active: active}
		if !active {
			standing.End = layers.EndedBad
		}
		return layers.RunStateOf(layers.RunConditions(f.RunFacts(standing, terms()), now))
	}
	for n := 1; n <= 5; n++ {
		if got := decide(s, f, now); got.Run != layers.WantPlan {
			t.Fatalf("try %d: %+v", n, got)
		}
		if got := state(true); got != layers.Running {
			t.Errorf("try %d goes on: %s", n, got)
		}
		out := layers.Outcome{Run: fmt.Sprint("R", n), Want: layers.WantPlan, Commit: "c1", Ended: now,
			End:    layers.EndedBad,
			Reason: "no such provider"}
		if f = f.After(out, "l"); f != f.After(out, "l") {
			t.Fatal("an outcome that is seen twice counts twice")
		}
		wait, grace := f.Failures.RetryAt.Sub(now), 15*time.Second<<(n-1)
		if f.Failures.Count != n || wait < grace/2 || wait > grace*3/2 {
			t.Errorf("try %d: %+v, waits %s", n, f.Failures, wait)
		}
		if n == 5 {
			break
		}
		if got := state(false); got != layers.FailureGracePeriod {
			t.Errorf("behind try %d: %s", n, got)
		}
		if got := decide(s, f, f.Failures.RetryAt.Add(-1)); got.Run != "" || !got.Again.Equal(f.Failures.RetryAt) {
			t.Errorf("within the grace of try %d: %+v", n, got)
		}
		now = f.Failures.RetryAt
		if got := state(false); got != layers.Retrying {
			t.Errorf("behind the grace of try %d: %s", n, got)
		}
	}
	now = now.Add(1000 * time.Hour)
	set := layers.Conditions(f, terms(), now)
	if got := layers.StateOf(set); got != layers.MaxRetriesReached || state(false) != layers.Failed {
		t.Errorf("%s, %s", got, state(false))
	}
	if got := decide(s, f, now); got.Run != "" || !got.Again.IsZero() || !strings.Contains(got.Why, "no such provider") {
		t.Errorf("%+v", got)
	}
	f.Relevant.ID, f.Branch.ID = "c2", "c2"
	if got := decide(s, f, now); got.Run != layers.WantPlan {
		t.Errorf("with a new commit: %+v", got)
	}
	f = f.After(layers.Outcome{Run: "R6", Want: layers.WantPlan, Commit: "c2", Ended: now, End: layers.EndedBad}, "l")
	if f.Failures.Count != 1 {
		t.Errorf("the failures of another commit count: %+v", f.Failures)
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	f := layers.Facts{Branch: layers.Commit{ID: "c1"}, Relevant: layers.Commit{ID: "c1"}}
	stateOf := func() layers.State { return layers.StateOf(layers.Conditions(f, layers.Terms{}, at(59))) }
	step := func(o layers.Outcome, want layers.State) {
		t.Helper()
		f = f.After(o, "l")
		if again := f.After(o, "l"); again != f {
			t.Errorf("seen again: %+v, not %+v", again, f)
		}
		if got := stateOf(); got != want {
			t.Errorf("behind %+v: %s, want %s", o, got, want)
		}
	}
	waiting := layers.Outcome{Run: "A", Want: layers.WantPropose, Commit: "c1", Planned: at(1), Changes: true,
		Digest: "d"}
	step(waiting, layers.ApplyNeeded)
	applied := waiting
	applied.Ended, applied.End = at(2), layers.EndedWell
	step(applied, layers.Idle)
	check := func(n int, digest string) layers.Outcome {
		return layers.Outcome{Run: fmt.Sprint("D", n), Want: layers.WantCheck, Planned: at(n), Ended: at(n),
			End: layers.EndedWell, Found: layers.DriftFact{Digest: digest, Count: len(digest)}}
	}
	step(check(3, ""), layers.Idle)
	step(check(4, "x"), layers.PlanNeeded)
	step(check(5, "x"), layers.PlanNeeded)
	if !f.Drift.Since.Equal(at(4)) || !f.Drift.At.Equal(at(5)) {
		t.Errorf("%+v", f.Drift)
	}
	plan := layers.Outcome{Run: "P", Want: layers.WantPlan, Commit: "c1", Planned: at(6), Changes: true, Digest: "e",
		Known: "x", Ended: at(6), End: layers.EndedWell}
	step(plan, layers.ApplyNeeded)
	step(check(7, "x"), layers.ApplyNeeded)
	step(check(8, ""), layers.PlanNeeded) // it is gone by itself
	none := plan
	none.Run, none.Planned, none.Ended, none.Changes, none.Known = "P2", at(9), at(9), false, ""
	step(none, layers.Idle)
	step(check(10, "y"), layers.PlanNeeded)
	fix := layers.Outcome{Run: "F", Want: layers.WantApply, Commit: "c1", Planned: at(11), Changes: true, Digest: "g",
		Known: "y", Ended: at(12), End: layers.EndedWell}
	step(fix, layers.Idle)
	no := layers.Outcome{Run: "N", Want: layers.WantPropose, Commit: "c1", Planned: at(13), Changes: true, Digest: "h",
		Ended: at(14), End: layers.Refused}
	step(no, layers.ApplyNeeded)
	if got := decide(settings(func(s *layers.Settings) { s.Remediation = layers.Propose }), f, at(15)); got.Run != "" {
		t.Errorf("what somebody said no to is proposed again: %+v", got)
	}
	step(layers.Outcome{Run: "X", Want: layers.WantApply, Commit: "c1", Ended: at(16), End: layers.Refused,
		Reason: "by ann"},
		layers.MaxRetriesReached)
}

func TestWindows(t *testing.T) {
	t.Parallel()
	night := layers.Window{Kind: layers.Allow, Schedule: "0 22 * * *", Zone: "Europe/Berlin", Duration: 8 * time.Hour}
	freeze := layers.Window{Kind: layers.Deny, Schedule: "0 0 20 12 *", Duration: 7 * 24 * time.Hour,
		Actions: []string{layers.ApplyRuns}}
	both := []layers.Window{night, freeze}
	for _, c := range []struct {
		at                      string
		nightOnly, plans, apply bool
	}{
		{"2026-01-10T20:59:59Z", false, false, false},
		{"2026-01-10T21:00:00Z", true, true, true},
		{"2026-01-11T04:59:59Z", true, true, true},
		{"2026-01-11T05:00:00Z", false, false, false},
		{"2026-07-10T20:00:00Z", true, true, true}, // in summer
		{"2026-07-10T19:59:59Z", false, false, false},
		{"2026-03-29T04:59:59Z", true, true, true}, // the night has 8 hours, though clocks show 9 at its end
		{"2026-03-29T05:00:00Z", false, false, false},
		{"2026-12-21T22:00:00Z", true, true, false},
		{"2026-12-27T22:00:00Z", true, true, true},
	} {
		now, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []struct {
			windows []layers.Window
			action  string
			want    bool
		}{
			{nil, layers.ApplyRuns, true}, {both[:1], layers.ApplyRuns, c.nightOnly}, {both, layers.PlanRuns, c.plans},
			{both, layers.ApplyRuns, c.apply},
		} {
			if open, why := layers.Open(o.windows, o.action, now); open != o.want || !open && why == "" {
				t.Errorf("%s of %d windows at %s: %t, %s", o.action, len(o.windows), c.at, open, why)
			}
		}
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	low, high := time.Hour, time.Duration(0)
	for i := range 1000 {
		wait := layers.Checks{}.Due(fmt.Sprint("l", i), at(0)).Sub(at(0))
		low, high = min(low, wait), max(high, wait)
	}
	if low < 18*time.Minute || low > 19*time.Minute || high > 22*time.Minute || high < 21*time.Minute {
		t.Errorf("checks come after %s to %s", low, high)
	}
	if got := (layers.Checks{Cron: "30 6 * * *", Zone: "Asia/Tokyo"}).Due("l", at(0)); got.UTC().Hour() != 21 {
		t.Error(got)
	}
	if !(layers.Checks{Off: true}).Due("l", at(0)).IsZero() {
		t.Error("checks that are off come")
	}
}
