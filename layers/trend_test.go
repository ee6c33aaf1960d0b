package layers_test

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/layers"
)

// today is the last day of a trend of two days of all layers.
func (w *world) today() layers.Trend {
	w.t.Helper()
	days, err := w.service().Trend(w.t.Context(), w.principal(auth.Reader), 2)
	if err != nil || len(days) != 2 {
		w.t.Fatal(days, err)
	}
	return days[1]
}

// A check counts on the day on which it has ended, and drift that an apply has undone is healed on the day of the
// apply.
func TestTrend(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.service()
	w.add(func(s *layers.Settings) { s.Remediation = layers.Propose })
	w.planAndApply(s)
	day := layers.DayOf(w.Now())
	if got := w.today(); got != (layers.Trend{Day: day}) {
		t.Errorf("a plan and an apply count: %+v", got)
	}
	w.pass(23 * time.Minute)
	w.settle(s)
	w.ends(layers.EndedWell, func(r *run) { r.found = []layers.Changed{drifted("local_file.a", "b")} })
	w.pass(24 * time.Hour) // it is seen only then
	w.settle(s)
	days, err := s.LayerTrend(t.Context(), w.principal(auth.Reader), "prod", 3)
	want := []layers.Trend{{Day: day - 1},
		{Day: day, Checks: 1, Found: 1, Layers: 1, Drifted: 1, Resources: 1, Fresh: 1}, {Day: day + 1}}
	if err != nil || !slices.Equal(days, want) {
		t.Errorf("%+v, %v", days, err)
	}
	w.ends(layers.EndedWell, func(r *run) { r.out.Changes, r.out.Digest = true, "d2" })
	w.pass(3 * time.Second)
	w.settle(s)
	if got := w.today(); got != (layers.Trend{Day: day + 1, Healed: 1}) {
		t.Errorf("after the apply: %+v", got)
	}
}

// Wherever the process is killed, and whatever is done again, a check counts once.
func TestTrendCountsOnce(t *testing.T) {
	t.Parallel()
	for dies := 1; ; dies++ {
		w := newWorld(t)
		w.add(func(s *layers.Settings) { s.Remediation = layers.Dry })
		w.planAndApply(w.service())
		w.ends(layers.EndedWell, func(r *run) { r.out.Changes = false })
		if _, err := w.service().Check(t.Context(), w.principal(auth.Owner), "prod"); err != nil {
			t.Fatal(err)
		}
		w.settle(w.service())
		if w.last().Want != layers.WantCheck {
			t.Fatalf("%+v", w.last())
		}
		w.ends(layers.EndedWell, func(r *run) { r.found = []layers.Changed{drifted("local_file.a", "b")} })
		w.pass(3 * time.Second)
		killed := w.sweepDying(dies)
		w.pass(2 * time.Minute)
		w.settle(w.service())
		want := layers.Trend{Day: layers.DayOf(w.Now()), Checks: 1, Found: 1, Layers: 1, Drifted: 1, Resources: 1, Fresh: 1}
		if got := w.today(); got != want || w.told(audit.DriftFind) == 0 {
			t.Fatalf("killed at call %d: %+v", dies, got)
		}
		if !killed {
			return
		}
		if dies > 100 {
			t.Fatal("the flow has no end")
		}
	}
}

// Who sees some layers has the numbers of those, and nobody those of another organization.
func TestTrendOfWhatIsSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	day := layers.DayOf(w.Now())
	for name, checks := range map[string]int{"prod/a": 1, "prod/b": 2, "dev/c": 4} {
		_, err := w.store.Update(t.Context(), layers.Ref{Org: w.org, Name: name}, func(*layers.Layer) (layers.Change, error) {
			return layers.Change{Put: &layers.Layer{}, Tally: &layers.Tally{Day: day, Checks: checks}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	s, ctx, reader := w.service(), t.Context(), w.principal(auth.Reader)
	if got := w.today(); got.Checks != 7 || got.Layers != 3 {
		t.Errorf("of all: %+v", got)
	}
	some, err := auth.ParsePatterns("prod/*")
	if err != nil {
		t.Fatal(err)
	}
	reader.States = some
	if days, err := s.Trend(ctx, reader, 1); err != nil || days[0].Checks != 3 || days[0].Layers != 2 {
		t.Errorf("of some: %+v, %v", days, err)
	}
	stranger := w.principal(auth.Owner)
	stranger.Org[0] ^= 1
	if days, err := s.Trend(ctx, stranger, 1); err != nil || days[0].Checks != 0 {
		t.Errorf("a stranger's: %+v, %v", days, err)
	}
	if _, err := s.LayerTrend(ctx, stranger, "prod/a", 1); !fault.Is(err, fault.LayerNotFound) {
		t.Error("a stranger's:", err)
	}
	for _, days := range []int{0, -1, layers.MostDays + 1} {
		if _, err := s.Trend(ctx, reader, days); !fault.Is(err, fault.ParameterInvalid) {
			t.Errorf("%d days: %v", days, err)
		}
	}
}
