package sqlworkspace_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/seal/sealtest"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqldb/sqldbtest"
	"github.com/holdfast/holdfast/storage/sqlworkspace"
	"github.com/holdfast/holdfast/workspace"
)

func TestMain(m *testing.M) { os.Exit(sqldbtest.Main(m)) }

// workspaces is a store that a test works with.
type workspaces struct {
	*sqlworkspace.Store
	t     *testing.T
	clock *clock
}

// clock stands still until a test moves it on. Nobody else reads it then.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// onEach runs a test on a new store in a file, and, where deep tests run, in memory and on a MySQL-protocol server.
func onEach(t *testing.T, test func(t *testing.T, s workspaces)) {
	on := func(t *testing.T, o sqldb.Options) {
		t.Helper()
		db, err := sqldb.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { suite.Close(t, db) })
		master, err := sealtest.NewMaster()
		if err != nil {
			t.Fatal(err)
		}
		c := &clock{time.Date(2026, 3, 1, 12, 0, 0, 123000, time.UTC)}
		test(t, workspaces{sqlworkspace.New(db, seal.New(master, sqldb.NewKeys(db)), c.now), t, c})
	}
	sqldbtest.On(t, func(t *testing.T, o sqldb.Options, _ bool) { on(t, o) })
}

func ref(org uuid.UUID, name string) workspace.Ref {
	return workspace.Ref{Org: org, Name: state.Name(name)}
}

func by(who string) workspace.Actor {
	return workspace.Actor{KeyID: who, KeyName: "n " + who, Subject: "s"}
}

func at(n int) time.Time { return time.Date(2026, 1, 1, 0, 0, n, 5000, time.UTC) }

func (s workspaces) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// change makes a workspace, or changes its settings.
func (s workspaces) change(ctx context.Context, r workspace.Ref,
	change func(*workspace.Workspace)) (workspace.Workspace, error) {
	return s.Update(ctx, r, func(w *workspace.Workspace, _ []workspace.Variable) (workspace.Change, error) {
		next := workspace.Workspace{Settings: workspace.Defaults(), CreatedAt: at(1), UpdatedAt: at(1),
			UpdatedBy: by("maker")}
		if w != nil {
			next = *w
		}
		change(&next)
		return workspace.Change{Put: &next}, nil
	})
}

// put makes a workspace.
func (s workspaces) put(r workspace.Ref) workspace.Workspace {
	s.t.Helper()
	w, err := s.change(s.t.Context(), r, func(*workspace.Workspace) {})
	s.must(err)
	return w
}

func (s workspaces) get(r workspace.Ref) workspace.Workspace {
	s.t.Helper()
	w, err := s.Workspace(s.t.Context(), r)
	s.must(err)
	return w
}

func (s workspaces) delete(r workspace.Ref) workspace.Workspace {
	s.t.Helper()
	w, err := s.Update(s.t.Context(), r, func(*workspace.Workspace, []workspace.Variable) (workspace.Change, error) {
		return workspace.Change{Delete: true}, nil
	})
	s.must(err)
	return w
}

func (s workspaces) wantNone(r workspace.Ref) {
	s.t.Helper()
	_, err := s.Workspace(s.t.Context(), r)
	suite.Fault(s.t, "a workspace that is not there", err, fault.WorkspaceNotFound)
}

func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}

func TestSettings(t *testing.T) {
	onEach(t, func(t *testing.T, s workspaces) {
		r := ref(uuid.New(), "prod/network")
		s.wantNone(r)
		expected := workspace.Workspace{Ref: r, Settings: workspace.Defaults(), Revision: 1, CreatedAt: at(1),
			UpdatedAt: at(1), UpdatedBy: by("maker")}
		want(t, "made", s.put(r), expected)
		settings := expected.Settings
		settings.Outputs, settings.Approvals, settings.Directory = []string{"a", "b"}, 2, "é"
		settings.Gate, settings.GateIrreversible, settings.GateMonthlyCost = "high", true, 5
		changed, err := s.change(t.Context(), r, func(w *workspace.Workspace) {
			w.Settings, w.UpdatedAt, w.UpdatedBy = settings, at(2), by("other")
		})
		s.must(err)
		expected.Settings, expected.UpdatedAt, expected.UpdatedBy, expected.Revision = settings, at(2), by("other"), 2
		want(t, "changed", changed, expected)
		want(t, "found", s.get(r), expected)
	})
}

// An error of a decision, and a decision that changes nothing, leave everything as it was.
func TestNoChange(t *testing.T) {
	onEach(t, func(t *testing.T, s workspaces) {
		r, no := ref(uuid.New(), "a"), errors.New("no")
		s.put(r)
		before := s.get(r)
		_, err := s.Update(t.Context(), r, func(w *workspace.Workspace, _ []workspace.Variable) (workspace.Change, error) {
			return workspace.Change{Put: w, Delete: true, Set: []workspace.Variable{variable("x", 1)}}, no
		})
		if !errors.Is(err, no) {
			t.Errorf("the refusal became %v", err)
		}
		same, err := s.Update(t.Context(), r, func(*workspace.Workspace, []workspace.Variable) (workspace.Change, error) {
			return workspace.Change{}, nil
		})
		s.must(err)
		want(t, "after the refusal", s.get(r), before)
		want(t, "after no change", same, before)
	})
}

func TestEndedContext(t *testing.T) {
	onEach(t, func(t *testing.T, s workspaces) {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		r := ref(uuid.New(), "a")
		if _, err := s.change(ended, r, func(*workspace.Workspace) {}); !errors.Is(err, context.Canceled) {
			t.Errorf("a change whose context has ended: %v", err)
		}
		s.wantNone(r)
	})
}

func TestConcurrentUpdates(t *testing.T) {
	onEach(t, func(t *testing.T, s workspaces) {
		r := ref(uuid.New(), "a")
		s.put(r)
		suite.Together(t, 8, func(ctx context.Context, _ int) error {
			for range 5 {
				if _, err := s.change(ctx, r, func(w *workspace.Workspace) { w.Settings.Parallelism++ }); err != nil {
					return err
				}
			}
			return nil
		})
		want(t, "changes", s.get(r).Settings.Parallelism, workspace.Defaults().Parallelism+40)
	})
}

func TestPages(t *testing.T) {
	onEach(t, func(t *testing.T, s workspaces) {
		org, names := uuid.New(), []string{"b", "a", "a-b", "a/b", "B", "a~", "c"}
		for _, name := range names {
			s.put(ref(org, name))
		}
		slices.Sort(names)
		var seen []string
		for after := ""; ; after = seen[len(seen)-1] {
			page, err := s.Workspaces(t.Context(), org, after, 3)
			s.must(err)
			for _, w := range page {
				seen = append(seen, string(w.Name))
			}
			if len(page) < 3 {
				break
			}
		}
		want(t, "names", seen, names)
		count, err := s.Count(t.Context(), org)
		s.must(err)
		want(t, "count", count, len(names))
	})
}

// A deleted workspace takes its variables and its row of snapshots with it.
func TestDelete(t *testing.T) {
	onEach(t, func(t *testing.T, s workspaces) {
		r := ref(uuid.New(), "a")
		s.put(r)
		s.set(r, variable("x", 1))
		s.mustPush(r, "one")
		want(t, "deleted", s.delete(r), workspace.Workspace{})
		s.wantNone(r)
		want(t, "newest of a new one", s.put(r).Newest, workspace.Entry{})
		want(t, "variables of a new one", len(s.variables(r).Own), 0)
		left, err := s.Entries(t.Context(), r, 0, 10)
		s.must(err)
		want(t, "snapshots of a new one", len(left), 0)
	})
}

func TestOrganizations(t *testing.T) {
	onEach(t, func(t *testing.T, s workspaces) {
		ctx, mine, other := t.Context(), ref(uuid.New(), "a"), ref(uuid.New(), "a")
		s.put(mine)
		s.set(mine, variable("x", 1))
		s.set(ref(mine.Org, ""), variable("x", 1))
		e := s.mustPush(mine, "one")
		s.wantNone(other)
		all, err := s.Workspaces(ctx, other.Org, "", 10)
		s.must(err)
		want(t, "list", len(all), 0)
		want(t, "revision", s.put(other).Revision, int64(1))
		vars := s.variables(other)
		want(t, "variables", len(vars.Own)+len(vars.Organizations), 0)
		if _, _, err := s.OpenContent(ctx, other.Org, digestOf("one")); err == nil {
			t.Error("another organization's content is there")
		}
		_, err = s.Files(ctx, other.Org, e.ID)
		suite.Fault(t, "files", err, fault.SnapshotNotFound)
		_, err = s.Entry(ctx, other, 0, e.ID)
		suite.Fault(t, "entry", err, fault.SnapshotNotFound)
		sizes, err := s.Sizes(ctx, other.Org, []workspace.Digest{digestOf("one")})
		s.must(err)
		want(t, "sizes", len(sizes), 0)
		stored, err := s.StoredBytes(ctx, other.Org)
		s.must(err)
		want(t, "bytes", stored, int64(0))
		_, err = s.AddSnapshot(ctx, other, snapshotOf("one"), workspace.Entry{}, nil, nil)
		suite.Fault(t, "another organization's contents", err, fault.FilesMissing)
	})
}

// What a change records is kept with it until it is forgotten.
func TestEvents(t *testing.T) {
	onEach(t, func(t *testing.T, s workspaces) {
		ctx, r := t.Context(), ref(uuid.New(), "a")
		event := func(note string) *audit.Event {
			return &audit.Event{At: at(3), Org: r.Org, Actor: audit.Actor{KeyID: "k", Address: "1.2.3.4"},
				Action: workspace.ActionCreate, State: "a", Note: note}
		}
		change := func(note string, refusal error) error {
			_, err := s.Update(ctx, r, func(*workspace.Workspace, []workspace.Variable) (workspace.Change, error) {
				return workspace.Change{Put: &workspace.Workspace{Settings: workspace.Defaults()}, Event: event(note)}, refusal
			})
			return err
		}
		s.must(change("first", nil))
		if err := change("refused", errors.New("no")); err == nil {
			t.Error("a refusal is gone")
		}
		s.must(change("second", nil))
		for _, note := range []string{"pushed", "pushed again"} { // the same snapshot, which is no change the second time
			_, err := s.push(ctx, r, nil, event(note), "one")
			s.must(err)
		}
		wantNotes := func(what string, org uuid.UUID, notes ...string) []workspace.Undelivered {
			t.Helper()
			found, err := s.Undelivered(ctx, org, 10)
			s.must(err)
			var got []string
			for _, e := range found {
				got = append(got, e.Event.Note)
			}
			want(t, what, got, notes)
			return found
		}
		found := wantNotes("of one", r.Org, "first", "second", "pushed")
		wantNotes("of all", uuid.Nil, "first", "second", "pushed")
		wantNotes("of another", uuid.New())
		want(t, "event", found[0].Event, *event("first"))
		s.must(s.Forget(ctx, found[0]))
		s.must(s.Forget(ctx, found[0]))
		wantNotes("left", r.Org, "second", "pushed")
	})
}
