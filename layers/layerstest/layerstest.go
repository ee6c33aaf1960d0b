// Package layerstest is the suite that every layers.Store passes.
package layerstest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/layers"
)

// RunStore runs the suite on stores that open makes: two of the same layers each time, as two processes have them, or
// the same one twice.
func RunStore(t *testing.T, open func(t *testing.T) (one, other layers.Store)) {
	for name, test := range map[string]func(*testing.T, layers.Store, layers.Store){
		"what is put is there": putIsThere, "updates": updates, "races": races, "lists": lists, "due": due,
		"turns": turns, "organizations": organizations, "trends": trends, "old days": oldDays,
	} {
		t.Run(name, func(t *testing.T) {
			one, other := open(t)
			test(t, one, other)
		})
	}
}

func at(second int) time.Time { return time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC) }

func layer(repository string) *layers.Layer {
	s := layers.Defaults()
	s.Repository, s.Path = repository, "envs/prod"
	return &layers.Layer{Settings: s, CreatedAt: at(0), UpdatedAt: at(1), UpdatedBy: layers.Actor{KeyID: "k"}}
}

// put stores a layer as it is given.
func put(t *testing.T, store layers.Store, ref layers.Ref, l *layers.Layer) layers.Layer {
	t.Helper()
	made, err := store.Update(t.Context(), ref, func(*layers.Layer) (layers.Change, error) {
		return layers.Change{Put: l}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func putIsThere(t *testing.T, one, other layers.Store) {
	ref := layers.Ref{Org: uuid.New(), Name: "prod/netz-ü"}
	l := layer("infra")
	l.Facts = layers.Facts{Why: "because", Plan: layers.PlanFact{Run: "R", At: at(2), Changes: true}, Checked: at(3)}
	l.Conditions = layers.Conditions(l.Facts, layers.Terms{}, at(4)).Since(nil, at(4))
	l.Run = &layers.Begun{Key: "k", Want: layers.WantPlan, At: at(4)}
	l.Commits = []layers.CommitVerdict{{Commit: layers.Commit{ID: "c", At: at(1)}, Relevant: true, Why: "w"}}
	l.Drifted = []layers.Resource{{Address: "a.b", Attributes: []string{"x"}, Since: at(5)}}
	l.Expected = []layers.Expectation{{ID: "e", Rule: layers.Rule{Address: "*", Attribute: "*"}, Expires: at(9)}}
	l.Notices, l.Due = []layers.Notice{{Run: "R", Text: "t"}}, at(6)
	made := put(t, one, ref, l)
	want := *l
	want.Ref, want.Revision = ref, 1
	if diff := cmp.Diff(want, made); diff != "" {
		t.Error("what is returned:", diff)
	}
	got, err := other.Layer(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("what is there:", diff)
	}
	if err := other.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

func updates(t *testing.T, one, other layers.Store) {
	ref, ctx := layers.Ref{Org: uuid.New(), Name: "l"}, t.Context()
	if _, err := one.Layer(ctx, ref); !fault.Is(err, fault.LayerNotFound) {
		t.Error(err)
	}
	none, err := one.Update(ctx, ref, func(l *layers.Layer) (layers.Change, error) {
		if l != nil {
			t.Error("there is a layer")
		}
		return layers.Change{}, nil
	})
	if err != nil || none.Revision != 0 || none.Name != "" {
		t.Errorf("%+v, %v", none, err)
	}
	put(t, one, ref, layer("infra"))
	broken := errors.New("broken")
	_, err = other.Update(ctx, ref, func(l *layers.Layer) (layers.Change, error) {
		l.Says = "changed"
		return layers.Change{Put: l}, broken
	})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
	same, err := other.Update(ctx, ref, func(l *layers.Layer) (layers.Change, error) {
		l.Says = "not stored"
		return layers.Change{}, nil
	})
	if err != nil || same.Revision != 1 || same.Says != "" {
		t.Errorf("%+v, %v", same, err)
	}
	if now := put(t, other, ref, layer("other")); now.Revision != 2 {
		t.Errorf("revision %d", now.Revision)
	}
	gone, err := one.Update(ctx, ref, func(*layers.Layer) (layers.Change, error) {
		return layers.Change{Delete: true},
			nil
	})
	if err != nil || gone.Name != "" {
		t.Errorf("%+v, %v", gone, err)
	}
	if _, err := other.Layer(ctx, ref); !fault.Is(err, fault.LayerNotFound) {
		t.Error(err)
	}
}

// races has many change one layer: each sees what those before have stored.
func races(t *testing.T, one, other layers.Store) {
	ref := layers.Ref{Org: uuid.New(), Name: "l"}
	put(t, one, ref, layer("infra"))
	const each = 10
	var wg sync.WaitGroup
	for _, store := range []layers.Store{one, other} {
		for range 2 {
			wg.Go(func() {
				for range each {
					_, err := store.Update(t.Context(), ref, func(l *layers.Layer) (layers.Change, error) {
						l.Sequence++
						return layers.Change{Put: l}, nil
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	if l, err := one.Layer(t.Context(), ref); err != nil || l.Sequence != 4*each || l.Revision != 4*each+1 {
		t.Errorf("%d, %d, %v", l.Sequence, l.Revision, err)
	}
}

func lists(t *testing.T, one, other layers.Store) {
	org, ctx := uuid.New(), t.Context()
	for i := range 7 {
		l := layer(fmt.Sprint("r", i%2))
		if i == 3 {
			l.Run = &layers.Begun{Want: layers.WantCheck}
		}
		put(t, one, layers.Ref{Org: org, Name: fmt.Sprint("l", i)}, l)
	}
	names := func(q layers.Query) (all string) {
		found, err := other.Layers(ctx, q)
		if err != nil {
			t.Error(err)
		}
		for _, l := range found {
			all += l.Name
		}
		return all
	}
	for _, c := range []struct {
		q    layers.Query
		want string
	}{
		{layers.Query{Limit: 9}, "l0l1l2l3l4l5l6"}, {layers.Query{Limit: 2, After: "l4"}, "l5l6"},
		{layers.Query{Limit: 2, After: "l1"}, "l2l3"}, {layers.Query{Repository: "r1", Limit: 9}, "l1l3l5"},
		{layers.Query{Repository: "r1", After: "l1", Limit: 1}, "l3"}, {layers.Query{Repository: "r2", Limit: 9}, ""},
	} {
		c.q.Org = org
		if got := names(c.q); got != c.want {
			t.Errorf("%+v: %s, want %s", c.q, got, c.want)
		}
	}
	if n, err := other.Count(ctx, org); err != nil || n != 7 {
		t.Error(n, err)
	}
	if n, err := other.Checking(ctx, org); err != nil || n != 1 {
		t.Error(n, err)
	}
}

func due(t *testing.T, one, other layers.Store) {
	org, ctx := uuid.New(), t.Context()
	for i, second := range []int{30, 10, 0, 20} {
		l := layer(fmt.Sprint("r", i%2))
		if second > 0 {
			l.Due = at(second)
		}
		put(t, one, layers.Ref{Org: org, Name: fmt.Sprint("l", i)}, l)
	}
	names := func(now time.Time, limit int) (all string) {
		found, err := other.Due(ctx, now, limit)
		if err != nil {
			t.Error(err)
		}
		for _, ref := range found {
			if ref.Org != org {
				t.Errorf("%+v is of another organization", ref)
			}
			all += ref.Name
		}
		return all
	}
	if got := names(at(9), 9) + "," + names(at(20), 9) + "," + names(at(99), 2); got != ",l1l3,l1l3" {
		t.Error(got)
	}
	if n, err := one.Wake(ctx, org, "r0", at(5)); err != nil || n != 2 {
		t.Error(n, err)
	}
	if n, err := one.Wake(ctx, org, "r1", at(15)); err != nil || n != 1 { // l1 is due before
		t.Error(n, err)
	}
	if got := names(at(99), 9); got != "l0l2l1l3" {
		t.Error(got)
	}
}

// turns: an organization with many layers does not keep others' from being among those that are due.
func turns(t *testing.T, one, other layers.Store) {
	many, few, ctx := uuid.New(), uuid.New(), t.Context()
	l := layer("r")
	for i := range 3 {
		l.Due = at(i + 1)
		put(t, one, layers.Ref{Org: many, Name: fmt.Sprint("l", i)}, l)
	}
	l.Due = at(9)
	put(t, one, layers.Ref{Org: few, Name: "f"}, l)
	found, err := other.Due(ctx, at(99), 3)
	want := []layers.Ref{{Org: many, Name: "l0"}, {Org: few, Name: "f"}, {Org: many, Name: "l1"}}
	if diff := cmp.Diff(want, found); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := one.Wake(ctx, many, "r", at(50)); err != nil { // it makes none due, and whoever looks at one looks again
		t.Error(err)
	}
	if l, err := other.Layer(ctx, want[0]); err != nil || l.Revision != 2 {
		t.Error(l.Revision, err)
	}
	if l, err := other.Layer(ctx, want[1]); err != nil || l.Revision != 1 {
		t.Error("another organization's:", l.Revision, err)
	}
}

func organizations(t *testing.T, one, other layers.Store) {
	acme, globex, ctx := uuid.New(), uuid.New(), t.Context()
	l := layer("r")
	l.Due = at(50)
	put(t, one, layers.Ref{Org: acme, Name: "l"}, l)
	if _, err := other.Layer(ctx, layers.Ref{Org: globex, Name: "l"}); !fault.Is(err, fault.LayerNotFound) {
		t.Error(err)
	}
	if n, err := other.Count(ctx, globex); err != nil || n != 0 {
		t.Error(n, err)
	}
	if all, err := other.Layers(ctx, layers.Query{Org: globex, Limit: 9}); err != nil || len(all) != 0 {
		t.Error(all, err)
	}
	if n, err := other.Wake(ctx, globex, "r", at(1)); err != nil || n != 0 {
		t.Error(n, err)
	}
	_, err := other.Update(ctx, layers.Ref{Org: globex, Name: "l"}, func(l *layers.Layer) (layers.Change, error) {
		if l != nil {
			t.Error("another organization's layer is shown")
		}
		return layers.Change{Delete: true}, nil
	})
	if err != nil {
		t.Error(err)
	}
	if got, err := one.Layer(ctx, layers.Ref{Org: acme, Name: "l"}); err != nil || !got.Due.Equal(at(50)) {
		t.Error(got, err)
	}
}
