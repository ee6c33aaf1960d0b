package layers_test

import (
	"testing"

	"github.com/holdfast/holdfast/layers"
)

// Failures of applies count on behind a plan or a check that fails and then goes well, and that plan has not failed.
func TestFailuresOfAppliesCountBehindOthers(t *testing.T) {
	t.Parallel()
	for _, want := range []layers.Want{layers.WantCheck, layers.WantApply} {
		f := layers.Facts{Relevant: layers.Commit{ID: "c1"}}
		f = f.After(layers.Outcome{Run: "R1", Want: layers.WantApply, Commit: "c1", Planned: at(1), Changes: true,
			Ended: at(2), End: layers.EndedBad}, "prod")
		f = f.After(layers.Outcome{Run: "R2", Want: want, Commit: "c1", Ended: at(3), End: layers.EndedBad}, "prod")
		good := layers.Outcome{Run: "R3", Want: want, Commit: "c1", Planned: at(4), Changes: true}
		if want == layers.WantCheck {
			good.Ended, good.End = at(4), layers.EndedWell
		}
		if f = f.After(good, "prod"); f.Failures.Count != 2 || f.Failures.Plan {
			t.Errorf("%s: %+v", want, f.Failures)
		}
		f = f.After(layers.Outcome{Run: "R4", Want: layers.WantApply, Commit: "c1", Planned: at(5), Changes: true,
			Ended: at(6), End: layers.EndedWell}, "prod")
		if f.Failures.Count != 0 {
			t.Errorf("%s: %+v", want, f.Failures)
		}
	}
}
