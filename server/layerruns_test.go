package server

import (
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/layers"
	"github.com/holdfast/holdfast/runs"
)

// A plan that goes on no more because nobody outside has answered is tried again; what somebody has said no to is not.
func TestWhatTheEndOfARunIsForItsLayer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  runs.Status
		outside *runs.Outside
		want    layers.End
	}{
		"applied":                  {runs.Succeeded, nil, layers.EndedWell},
		"failed":                   {runs.Failed, nil, layers.EndedBad},
		"out of date":              {runs.Outdated, nil, layers.Stale},
		"denied":                   {runs.Discarded, nil, layers.Refused},
		"rejected outside":         {runs.Discarded, &runs.Outside{State: runs.OutsideRejected}, layers.Refused},
		"denied, approved outside": {runs.Discarded, &runs.Outside{State: runs.OutsideApproved}, layers.Refused},
		"nobody answered outside": {runs.Discarded, &runs.Outside{State: runs.OutsideFailed, Stopped: true},
			layers.EndedBad},
		"it goes on, and denied": {runs.Discarded, &runs.Outside{State: runs.OutsideFailed}, layers.Refused},
		"cancelled":              {runs.Cancelled, nil, layers.Refused},
		"failed, none outside":   {runs.Failed, &runs.Outside{State: runs.OutsideFailed}, layers.EndedBad},
	} {
		run := runs.Run{ID: "R", Status: c.status, FinishedAt: time.Unix(1, 0), Outside: c.outside}
		if got := outcomeOf(run); got.End != c.want {
			t.Errorf("%s: %s, want %s", name, got.End, c.want)
		}
	}
}

// A layer is told where its run is as it is: one that waits has no executor.
func TestWhereARunIsForItsLayer(t *testing.T) {
	t.Parallel()
	later := time.Unix(9, 0)
	for name, c := range map[string]struct {
		run  runs.Run
		want layers.RunState
	}{
		"waits for its first executor": {runs.Run{Status: runs.Pending, Attempt: 1}, layers.Initial},
		"is planned": {runs.Run{Status: runs.Planning, Attempt: 1, StartedAt: time.Unix(1, 0)},
			layers.Running},
		"is tried again soon": {runs.Run{Status: runs.Pending, Attempt: 1, Tries: 1, NotBefore: later},
			layers.FailureGracePeriod},
		"its attempt is": {runs.Run{Status: runs.Retrying, Attempt: 2, NotBefore: later, StartedAt: time.Unix(1, 0)},
			layers.FailureGracePeriod},
		"waits for people": {runs.Run{Status: runs.AwaitingApproval, Attempt: 1, StartedAt: time.Unix(1, 0)},
			layers.Succeeded},
		"is behind others, confirmed": {runs.Run{Status: runs.Confirmed, Attempt: 1, StartedAt: time.Unix(1, 0)},
			layers.Succeeded},
	} {
		set := layers.RunConditions(layers.Facts{}.RunFacts(outcomeOf(c.run).Standing, layers.Terms{}), time.Unix(5, 0))
		working := c.want == layers.Running
		if got := layers.RunStateOf(set); got != c.want || set.Is(layers.IsRunning) != working {
			t.Errorf("%s: %s, %+v", name, got, set)
		}
	}
}

// Outputs that the state lacks are no drift: they are those of a workspace that was never applied.
func TestNewOutputsAreNoDrift(t *testing.T) {
	t.Parallel()
	run := runs.Run{Kind: runs.Drift, Counts: &api.RunCounts{Any: true, Outputs: 1}}
	if run.Drifted() {
		t.Error("an output that was never applied is drift")
	}
	if run.Counts.Drift = 1; !run.Drifted() {
		t.Error("a changed resource behind it is none")
	}
}

// A run that looks for drift with a whole plan has drifted by what was changed outside, not by what it would do.
func TestWholePlanIsNoDrift(t *testing.T) {
	t.Parallel()
	run := runs.Run{Kind: runs.Drift, Counts: &api.RunCounts{Any: true, Change: 1}}
	if !run.Drifted() || !run.RefreshOnly() {
		t.Error("a run that only refreshes has not drifted")
	}
	if run.Order.Whole = true; run.Drifted() || run.RefreshOnly() {
		t.Error("a whole plan has drifted by what it would do")
	}
	if run.Counts.Drift = 1; !run.Drifted() {
		t.Error("a whole plan has not drifted")
	}
}
