package sqllayers_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/layers"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqldb/sqldbtest"
	"github.com/holdfast/holdfast/storage/sqllayers"
)

func TestMain(m *testing.M) { os.Exit(sqldbtest.Main(m)) }

// onEach runs a test on a new store in a file, and, where deep tests run, in memory and on a MySQL-protocol server.
// There one and other are of two nodes; else they are the same.
func onEach(t *testing.T, test func(t *testing.T, one, other *sqllayers.Store)) {
	sqldbtest.On(t, func(t *testing.T, o sqldb.Options, shared bool) {
		one := open(t, o)
		other := one
		if shared {
			other = open(t, o)
		}
		test(t, one, other)
	})
}

func open(t *testing.T, o sqldb.Options) *sqllayers.Store {
	t.Helper()
	db, err := sqldb.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { suite.Close(t, db) })
	return sqllayers.New(db)
}

func at(second int) time.Time { return time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC) }

func layer(repository string) *layers.Layer {
	s := layers.Defaults()
	s.Repository, s.Path = repository, "envs/prod"
	return &layers.Layer{Settings: s, CreatedAt: at(0), UpdatedAt: at(1), UpdatedBy: layers.Actor{KeyID: "k"}}
}

// put stores a layer as it is given.
func put(t *testing.T, store *sqllayers.Store, ref layers.Ref, l *layers.Layer) layers.Layer {
	t.Helper()
	made, err := store.Update(t.Context(), ref, func(*layers.Layer) (layers.Change, error) {
		return layers.Change{Put: l}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestPut(t *testing.T) {
	onEach(t, func(t *testing.T, one, other *sqllayers.Store) {
		ref := layers.Ref{Org: uuid.New(), Name: "prod/netz-ü"}
		l := layer("infra")
		l.Facts = layers.Facts{Why: "because", Plan: layers.PlanFact{Run: "R", At: at(2), Changes: true}, Checked: at(3)}
		l.Conditions = layers.Conditions(l.Facts, layers.Terms{}, at(4)).Since(nil, at(4))
		l.Run = &layers.Begun{Key: "k", Want: layers.WantPlan, At: at(4)}
		l.Commits = []layers.CommitVerdict{{Commit: layers.Commit{ID: "c", At: at(1)}, Relevant: true, Why: "w"}}
		l.Drifted = []layers.Resource{{Address: "a.b", Attributes: []string{"x"}, Since: at(5)}}
		l.Expected = []layers.Expectation{{ID: "e", Rule: layers.Rule{Address: "*", Attribute: "*"}, Expires: at(9)}}
		l.Notices, l.Due = []layers.Notice{{Run: "R", Text: "t"}}, at(6)
		want := *l
		want.Ref, want.Revision = ref, 1
		suite.Equal(t, "what Update returns", want, put(t, one, ref, l))
		got, err := other.Layer(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		suite.Equal(t, "what Layer returns", want, got)
		if err := other.Ready(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestUpdate(t *testing.T) {
	onEach(t, func(t *testing.T, one, other *sqllayers.Store) {
		ref, ctx := layers.Ref{Org: uuid.New(), Name: "l"}, t.Context()
		_, err := one.Layer(ctx, ref)
		suite.Fault(t, "before", err, fault.LayerNotFound)
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
			return layers.Change{Delete: true}, nil
		})
		if err != nil || gone.Name != "" {
			t.Errorf("%+v, %v", gone, err)
		}
		_, err = other.Layer(ctx, ref)
		suite.Fault(t, "after the deletion", err, fault.LayerNotFound)
	})
}

// Many change one layer: each sees what those before have stored.
func TestConcurrentUpdates(t *testing.T) {
	onEach(t, func(t *testing.T, one, other *sqllayers.Store) {
		ref := layers.Ref{Org: uuid.New(), Name: "l"}
		put(t, one, ref, layer("infra"))
		const workers, each = 4, 10
		suite.Together(t, workers, func(ctx context.Context, worker int) error {
			for range each {
				_, err := []*sqllayers.Store{one, other}[worker%2].Update(ctx, ref,
					func(l *layers.Layer) (layers.Change, error) {
						l.Sequence++
						return layers.Change{Put: l}, nil
					})
				if err != nil {
					return err
				}
			}
			return nil
		})
		if l, err := one.Layer(t.Context(), ref); err != nil || l.Sequence != workers*each ||
			l.Revision != workers*each+1 {
			t.Errorf("%d, %d, %v", l.Sequence, l.Revision, err)
		}
	})
}

func TestLists(t *testing.T) {
	onEach(t, func(t *testing.T, one, other *sqllayers.Store) {
		org, ctx := uuid.New(), t.Context()
		for i := range 7 {
			l := layer(fmt.Sprint("r", i%2))
			if i == 3 {
				l.Run = &layers.Begun{Want: layers.WantCheck}
			}
			put(t, one, layers.Ref{Org: org, Name: fmt.Sprint("l", i)}, l)
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
			found, err := other.Layers(ctx, c.q)
			names := ""
			for _, l := range found {
				names += l.Name
			}
			if err != nil || names != c.want {
				t.Errorf("%+v: %s, %v; want %s", c.q, names, err, c.want)
			}
		}
		if n, err := other.Count(ctx, org); err != nil || n != 7 {
			t.Error(n, err)
		}
		if n, err := other.Checking(ctx, org); err != nil || n != 1 {
			t.Error(n, err)
		}
	})
}

func TestDue(t *testing.T) {
	onEach(t, func(t *testing.T, one, other *sqllayers.Store) {
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
	})
}

// An organization with many layers does not keep others' from being among those that are due.
func TestDueOfSeveralOrganizations(t *testing.T) {
	onEach(t, func(t *testing.T, one, other *sqllayers.Store) {
		many, few, ctx := uuid.New(), uuid.New(), t.Context()
		l := layer("r")
		for i := range 3 {
			l.Due = at(i + 1)
			put(t, one, layers.Ref{Org: many, Name: fmt.Sprint("l", i)}, l)
		}
		l.Due = at(9)
		put(t, one, layers.Ref{Org: few, Name: "f"}, l)
		found, err := other.Due(ctx, at(99), 3)
		if err != nil {
			t.Fatal(err)
		}
		want := []layers.Ref{{Org: many, Name: "l0"}, {Org: few, Name: "f"}, {Org: many, Name: "l1"}}
		suite.Equal(t, "due", want, found)
		// It makes none due, and whoever looks at one looks again.
		if _, err := one.Wake(ctx, many, "r", at(50)); err != nil {
			t.Error(err)
		}
		if l, err := other.Layer(ctx, want[0]); err != nil || l.Revision != 2 {
			t.Error(l.Revision, err)
		}
		if l, err := other.Layer(ctx, want[1]); err != nil || l.Revision != 1 {
			t.Error("another organization's:", l.Revision, err)
		}
	})
}

func TestOrganizations(t *testing.T) {
	onEach(t, func(t *testing.T, one, other *sqllayers.Store) {
		acme, globex, ctx := uuid.New(), uuid.New(), t.Context()
		l := layer("r")
		l.Due = at(50)
		put(t, one, layers.Ref{Org: acme, Name: "l"}, l)
		_, err := other.Layer(ctx, layers.Ref{Org: globex, Name: "l"})
		suite.Fault(t, "another organization's", err, fault.LayerNotFound)
		if n, err := other.Count(ctx, globex); err != nil || n != 0 {
			t.Error(n, err)
		}
		if all, err := other.Layers(ctx, layers.Query{Org: globex, Limit: 9}); err != nil || len(all) != 0 {
			t.Error(all, err)
		}
		if n, err := other.Wake(ctx, globex, "r", at(1)); err != nil || n != 0 {
			t.Error(n, err)
		}
		_, err = other.Update(ctx, layers.Ref{Org: globex, Name: "l"}, func(l *layers.Layer) (layers.Change, error) {
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
	})
}
