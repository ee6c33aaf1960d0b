package layers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/layers"
)

// combine makes the conditions of the types that are in bits.
func combine(types []layers.ConditionType, bits int) (all layers.Set) {
	for i, kind := range types {
		status := layers.False
		if bits&(1<<i) != 0 {
			status = layers.True
		}
		all = append(all, layers.Condition{Type: kind, Status: status})
	}
	return all
}

// Every combination of a layer's conditions has one state; what decides it stands in a row of the table.
func TestStateOfEveryCombination(t *testing.T) {
	t.Parallel()
	types := []layers.ConditionType{layers.IsPlanArtifactUpToDate, layers.IsApplyUpToDate,
		layers.IsLastRelevantCommitPlanned,
		layers.HasLastPlanFailed, layers.IsSyncScheduled, layers.HasLastRunReachedRetryLimit}
	const any = -1
	rules := []struct {
		artifact, apply, commit, failed, sync, limit int
		want                                         layers.State
	}{
		{any, any, any, any, 1, any, layers.PlanNeeded},
		{any, any, any, any, 0, 1, layers.MaxRetriesReached},
		{0, any, any, any, 0, 0, layers.PlanNeeded},
		{1, any, 0, any, 0, 0, layers.PlanNeeded},
		{1, any, 1, 1, 0, 0, layers.PlanNeeded},
		{1, 0, 1, 0, 0, 0, layers.ApplyNeeded},
		{1, 1, 1, 0, 0, 0, layers.Idle},
	}
	for bits := range 1 << len(types) {
		matched, set := 0, combine(types, bits)
		for _, r := range rules {
			fits := true
			for i, want := range []int{r.artifact, r.apply, r.commit, r.failed, r.sync, r.limit} {
				fits = fits && (want == any || want == bits>>i&1)
			}
			if !fits {
				continue
			}
			matched++
			if got := layers.StateOf(set); got != r.want {
				t.Errorf("%06b: %s, want %s", bits, got, r.want)
			}
		}
		if matched != 1 {
			t.Errorf("%06b: %d rows of the table say something", bits, matched)
		}
	}
}

func TestRunStateOfEveryCombination(t *testing.T) {
	t.Parallel()
	types := []layers.ConditionType{layers.HasStatus, layers.HasReachedRetryLimit, layers.HasSucceeded, layers.IsRunning,
		layers.IsInFailureGracePeriod}
	const any = -1
	rules := []struct {
		status, limit, succeeded, running, grace int
		want                                     layers.RunState
	}{
		{0, any, any, any, any, layers.Initial},
		{1, any, 1, any, any, layers.Succeeded},
		{1, any, 0, 1, any, layers.Running},
		{1, 1, 0, 0, any, layers.Failed},
		{1, 0, 0, 0, 1, layers.FailureGracePeriod},
		{1, 0, 0, 0, 0, layers.Retrying},
	}
	for bits := range 1 << len(types) {
		matched, set := 0, combine(types, bits)
		for _, r := range rules {
			fits := true
			for i, want := range []int{r.status, r.limit, r.succeeded, r.running, r.grace} {
				fits = fits && (want == any || want == bits>>i&1)
			}
			if !fits {
				continue
			}
			matched++
			if got := layers.RunStateOf(set); got != r.want {
				t.Errorf("%05b: %s, want %s", bits, got, r.want)
			}
		}
		if matched != 1 {
			t.Errorf("%05b: %d rows of the table say something", bits, matched)
		}
	}
}

// What is unknown, or not there, does not hold.
func TestUnknownDoesNotHold(t *testing.T) {
	t.Parallel()
	set := layers.Set{{Type: layers.IsPlanArtifactUpToDate, Status: layers.Unknown}}
	if set.Is(layers.IsPlanArtifactUpToDate) || set.Is(layers.IsApplyUpToDate) {
		t.Error("it holds")
	}
	if got := layers.StateOf(set); got != layers.PlanNeeded {
		t.Error(got)
	}
}

func at(minute int) time.Time { return time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC) }

func TestSinceKeepsTimesOfWhatHasNotChanged(t *testing.T) {
	t.Parallel()
	first := layers.Conditions(layers.Facts{}, layers.Terms{}, at(0)).Since(nil, at(0))
	facts := layers.Facts{Plan: layers.PlanFact{Run: "R", At: at(1)}, Checked: at(1)}
	second := layers.Conditions(facts, layers.Terms{}, at(2)).Since(first, at(2))
	for _, c := range second {
		want := at(0)
		if c.Type == layers.IsPlanArtifactUpToDate {
			want = at(2)
		}
		if !c.LastTransition.Equal(want) {
			t.Errorf("%s since %s, want %s", c.Type, c.LastTransition, want)
		}
		if c.Reason == "" || c.Message == "" || c.Status == "" {
			t.Errorf("%+v says nothing", c)
		}
	}
}

func TestGrace(t *testing.T) {
	t.Parallel()
	for n, want := range []time.Duration{15, 15, 30, 60, 120, 240, 480, 600, 600, 600} {
		if got := layers.Grace(n, 1); got != want*time.Second {
			t.Errorf("behind failure %d: %s, want %d seconds", n, got, want)
		}
	}
	if got := layers.Grace(1<<40, 1); got != 10*time.Minute {
		t.Error(got)
	}
	low, high, sum := 2.0, 0.0, 0.0
	for n := range 10_000 {
		j := layers.Jitter(fmt.Sprint("prod/", n%100), int64(n/100))
		low, high, sum = min(low, j), max(high, j), sum+j
	}
	if low < 0.5 || low > 0.51 || high >= 1.5 || high < 1.49 || sum < 9_800 || sum > 10_200 {
		t.Errorf("jitter from %f to %f, on average %f", low, high, sum/10_000)
	}
	if layers.Jitter("a", 1) != layers.Jitter("a", 1) || layers.Jitter("a", 1) == layers.Jitter("a", 2) {
		t.Error("a jitter is not that of its layer and number")
	}
}

func TestRunConditions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what  string
		facts layers.RunFacts
		want  layers.RunState
	}{
		{"just made", layers.RunFacts{}, layers.Initial},
		{"at work", layers.RunFacts{Begun: true, Active: true}, layers.Running},
		{"at work again", layers.RunFacts{Active: true, Failures: 3, RetryAt: at(9)}, layers.Running},
		{"in grace", layers.RunFacts{Failures: 1, RetryAt: at(9)}, layers.FailureGracePeriod},
		{"behind its grace", layers.RunFacts{Failures: 1, RetryAt: at(5)}, layers.Retrying},
		{"the fourth time", layers.RunFacts{Failures: 4, RetryAt: at(9)}, layers.FailureGracePeriod},
		{"too often", layers.RunFacts{Failures: 5, RetryAt: at(9)}, layers.Failed},
		{"too often, by settings", layers.RunFacts{Failures: 2, Retries: 2}, layers.Failed},
		{"not to be tried again", layers.RunFacts{Final: "somebody has cancelled it"}, layers.Failed},
		{"done", layers.RunFacts{Begun: true, Succeeded: true}, layers.Succeeded},
	} {
		if got := layers.RunStateOf(layers.RunConditions(c.facts, at(5))); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// A run that nobody will execute says so, and how to change that.
func TestRunThatNobodyExecutes(t *testing.T) {
	const why = "waits for an agent of the pool eu, which has none: start one"
	facts := layers.Facts{}.RunFacts(layers.RunStanding{Nobody: why}, layers.Terms{})
	c := layers.RunConditions(facts, at(5)).Of(layers.HasStatus)
	if c.Status == layers.True || c.Message != "the run "+why {
		t.Errorf("it says %+v", c)
	}
}

// What a run says of its grace never names a retry that isn't made, nor one at no time.
func TestGraceOfARunSaysWhatFollows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what  string
		facts layers.RunFacts
		want  string
	}{
		{"in grace", layers.RunFacts{Failures: 1, RetryAt: at(9)}, "it is tried again at "},
		{"behind its grace", layers.RunFacts{Failures: 1, RetryAt: at(5)}, "it may be tried again since "},
		{"at its retry", layers.RunFacts{Failures: 1}, "its retry has begun"},
		{"too often", layers.RunFacts{Failures: 5, RetryAt: at(9)}, "it is not tried again by itself"},
		{"refused", layers.RunFacts{Failures: 1, RetryAt: at(9), Final: "no"}, "it is not tried again by itself"},
	} {
		got := layers.RunConditions(c.facts, at(5)).Of(layers.IsInFailureGracePeriod).Message
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: it says %q, want %q", c.what, got, c.want)
		}
	}
}
