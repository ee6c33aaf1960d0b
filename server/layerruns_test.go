package server

import (
	"testing"
	"time"

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
