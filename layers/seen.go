package layers

import (
	"slices"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/runs/plainlog"
)

// seen is a layer as the caller may see it. What a provider calls a resource, and what a tool has said, may be values
// of the layer's state.
func seen(p auth.Principal, l Layer) Layer {
	if p.SeesValues(l.Name) {
		return l
	}
	l.Says, l.Facts.Failures.Reason = plainlog.Reason(l.Says), plainlog.Reason(l.Facts.Failures.Reason)
	for _, run := range []**Begun{&l.Run, &l.Last} {
		if *run != nil {
			plain := **run
			plain.Why = plainlog.Reason(plain.Why)
			*run = &plain
		}
	}
	l.Conditions = slices.Clone(l.Conditions)
	for i := range l.Conditions {
		l.Conditions[i].Message = plainlog.Reason(l.Conditions[i].Message)
	}
	l.Drifted = slices.Clone(l.Drifted)
	for i := range l.Drifted {
		l.Drifted[i].ID = ""
	}
	return l
}
