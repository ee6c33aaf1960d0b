package sqllayers_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/layers"
	"github.com/holdfast/holdfast/storage/sqllayers"
)

// tally counts on a day of a layer, as a check of it does.
func tally(t *testing.T, store *sqllayers.Store, ref layers.Ref, add layers.Tally) {
	t.Helper()
	_, err := store.Update(t.Context(), ref, func(*layers.Layer) (layers.Change, error) {
		return layers.Change{Put: layer("infra"), Tally: &add}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func wantTrend(t *testing.T, store *sqllayers.Store, q layers.TrendQuery, want ...layers.Trend) {
	t.Helper()
	got, err := store.Trend(t.Context(), q)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v: %+v, %v; want %+v", q, got, err, want)
	}
}

// Days count together with the change that they come with, of those layers that are asked for.
func TestTrend(t *testing.T) {
	onEach(t, func(t *testing.T, one, other *sqllayers.Store) {
		org := uuid.New()
		a, b := layers.Ref{Org: org, Name: "prod/ä"}, layers.Ref{Org: org, Name: "dev/b"}
		tally(t, one, a, layers.Tally{Day: 20_000, Checks: 1, Found: 1, Drifted: 3, Fresh: 3})
		tally(t, other, a, layers.Tally{Day: 20_000, Checks: 1, Found: 1, Drifted: 2, Fresh: 1, Healed: 2})
		tally(t, one, b, layers.Tally{Day: 20_000, Checks: 1})
		tally(t, one, b, layers.Tally{Day: 20_002, Drifted: 0, Healed: 4})
		broken := errors.New("broken")
		_, err := one.Update(t.Context(), b, func(l *layers.Layer) (layers.Change, error) {
			return layers.Change{Put: l, Tally: &layers.Tally{Day: 20_002, Checks: 7}}, broken
		})
		if !errors.Is(err, broken) {
			t.Error(err)
		}
		ofA := layers.Trend{Day: 20_000, Checks: 2, Found: 2, Layers: 1, Drifted: 1, Resources: 2, Fresh: 4, Healed: 2}
		both, last := ofA, layers.Trend{Day: 20_002, Healed: 4}
		both.Checks, both.Layers = 3, 2
		q := layers.TrendQuery{Org: org, From: 20_000, To: 20_002}
		wantTrend(t, other, q, both, last)
		q.Layer = a.Name
		wantTrend(t, other, q, ofA)
		q.Layer, q.Sees = "", func(name string) bool { return name == a.Name }
		wantTrend(t, other, q, ofA)
		q.Sees = func(string) bool { return true }
		wantTrend(t, other, q, both, last)
		q.Sees = func(string) bool { return false }
		wantTrend(t, other, q)
		q.Sees, q.From = nil, 20_001
		wantTrend(t, other, q, last)
		q.Org = uuid.New()
		wantTrend(t, other, q)
		_, err = one.Update(t.Context(), a, func(*layers.Layer) (layers.Change, error) {
			return layers.Change{Delete: true}, nil
		})
		if err != nil {
			t.Error(err)
		}
		wantTrend(t, other, layers.TrendQuery{Org: org, From: 20_000, To: 20_002},
			layers.Trend{Day: 20_000, Checks: 1, Layers: 1}, last)
	})
}

// The days of a layer are bounded, and those of others are not touched.
func TestOldDaysGo(t *testing.T) {
	onEach(t, func(t *testing.T, one, other *sqllayers.Store) {
		org := uuid.New()
		a, b := layers.Ref{Org: org, Name: "a"}, layers.Ref{Org: org, Name: "b"}
		check := func(ref layers.Ref, day layers.Day) { tally(t, one, ref, layers.Tally{Day: day, Checks: 1}) }
		check(b, 10_000)
		check(a, 10_000)
		check(a, 10_001)
		check(a, 10_000+layers.MostDays)
		q := layers.TrendQuery{Org: org, Layer: "a", To: 20_000}
		day := func(day layers.Day) layers.Trend { return layers.Trend{Day: day, Checks: 1, Layers: 1} }
		wantTrend(t, other, q, day(10_001), day(10_000+layers.MostDays))
		q.Layer = "b"
		wantTrend(t, other, q, day(10_000))
	})
}
