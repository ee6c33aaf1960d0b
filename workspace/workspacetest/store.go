// Package workspacetest holds the conformance suite of workspace.Store.
package workspacetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/workspace"
)

// Clock is the time as stores see it.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// Now returns it.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Sleep moves it on.
func (c *Clock) Sleep(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// NewClock returns a clock that stands still.
func NewClock() *Clock {
	return &Clock{at: time.Date(2026, 3, 1, 12, 0, 0, 123000, time.UTC)}
}

// RunStore holds a workspace.Store to its contract. open returns a new, empty one, which it
// closes with the test.
func RunStore(t *testing.T, open func(t *testing.T, now func() time.Time) workspace.Store) {
	for _, law := range Laws() {
		t.Run(law.Name, func(t *testing.T) {
			clock := NewClock()
			if err := law.Check(t.Context(), open(t, clock.Now), clock); err != nil {
				t.Error(err)
			}
		})
	}
}

// Law is one promise of the contract. Check returns how it is broken.
type Law struct {
	Name  string
	Check func(context.Context, workspace.Store, *Clock) error
}

// Laws returns all of them.
func Laws() []Law {
	return []Law{
		{"Settings", settings},
		{"RefusedChange", refusedChange},
		{"Pages", pages},
		{"Revisions", revisions},
		{"OneAfterAnother", oneAfterAnother},
		{"Variables", variables},
		{"NamesByByte", namesByByte},
		{"Deletion", deletion},
		{"Isolation", isolation},
		{"Events", events},
		{"Contents", contents},
		{"Sent", sent},
		{"Snapshots", snapshots},
		{"SameSnapshot", sameSnapshot},
		{"Parents", parents},
		{"Beside", beside},
		{"MissingContents", missingContents},
		{"Entries", entries},
		{"NeededContents", neededContents},
		{"SweepAfterDeletion", sweepAfterDeletion},
		{"EndedContext", endedContext},
	}
}

func ref(org uuid.UUID, name string) workspace.Ref {
	return workspace.Ref{Org: org, Name: state.Name(name)}
}

func by(who string) workspace.Actor {
	return workspace.Actor{KeyID: who, KeyName: "n " + who, Subject: "s"}
}

func at(n int) time.Time { return time.Date(2026, 1, 1, 0, 0, n, 5000, time.UTC) }

// put makes a workspace, or changes its settings.
func put(ctx context.Context, s workspace.Store, r workspace.Ref,
	change func(*workspace.Workspace)) (workspace.Workspace, error) {
	return s.Update(ctx, r, func(w *workspace.Workspace, _ []workspace.Variable) (workspace.Change, error) {
		next := workspace.Workspace{Settings: workspace.Defaults(), CreatedAt: at(1), UpdatedAt: at(1),
			UpdatedBy: by("maker")}
		if w != nil {
			next = *w
		}
		if change != nil {
			change(&next)
		}
		return workspace.Change{Put: &next}, nil
	})
}

// want says that two are not the same.
func want(what string, got, want any) error {
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("%s: got %+v, want %+v", what, got, want)
	}
	return nil
}

// wantCode says that an error has another code; the empty code is no error.
func wantCode(what string, err error, code fault.Code) error {
	if code == "" && err != nil || code != "" && !fault.Is(err, code) {
		return fmt.Errorf("%s: %w, want %q", what, err, code)
	}
	return nil
}

func settings(ctx context.Context, s workspace.Store, _ *Clock) error {
	r := ref(uuid.New(), "prod/network")
	_, err := s.Workspace(ctx, r)
	if err := wantCode("before", err, fault.WorkspaceNotFound); err != nil {
		return err
	}
	made, err := put(ctx, s, r, nil)
	if err != nil {
		return err
	}
	expected := workspace.Workspace{Ref: r, Settings: workspace.Defaults(), Revision: 1, CreatedAt: at(1),
		UpdatedAt: at(1), UpdatedBy: by("maker")}
	if err := want("made", made, expected); err != nil {
		return err
	}
	changed, err := put(ctx, s, r, func(w *workspace.Workspace) {
		w.Settings.Outputs, w.Settings.Approvals, w.Settings.Directory = []string{"a", "b"}, 2, "é"
		w.Settings.Gate, w.Settings.GateIrreversible, w.Settings.GateMonthlyCost = "high", true, 5
		w.UpdatedAt, w.UpdatedBy = at(2), by("other")
	})
	if err != nil {
		return err
	}
	expected.Settings.Gate, expected.Settings.GateIrreversible, expected.Settings.GateMonthlyCost = "high", true, 5
	expected.Settings.Outputs, expected.Settings.Approvals, expected.Settings.Directory = []string{"a", "b"}, 2, "é"
	expected.UpdatedAt, expected.UpdatedBy, expected.Revision = at(2), by("other"), 2
	found, err := s.Workspace(ctx, r)
	return errors.Join(err, want("changed", changed, expected), want("found", found, expected))
}

func refusedChange(ctx context.Context, s workspace.Store, _ *Clock) error {
	r, no := ref(uuid.New(), "a"), errors.New("no")
	if _, err := put(ctx, s, r, nil); err != nil {
		return err
	}
	before, err := s.Workspace(ctx, r)
	if err != nil {
		return err
	}
	_, err = s.Update(ctx, r, func(w *workspace.Workspace, _ []workspace.Variable) (workspace.Change, error) {
		return workspace.Change{Put: w, Delete: true, Set: []workspace.Variable{variable("x", 1)}}, no
	})
	if !errors.Is(err, no) {
		return fmt.Errorf("the refusal became %w", err)
	}
	same, err := s.Update(ctx, r, func(*workspace.Workspace, []workspace.Variable) (workspace.Change, error) {
		return workspace.Change{}, nil
	})
	if err != nil {
		return err
	}
	after, err := s.Workspace(ctx, r)
	return errors.Join(err, want("after the refusal", after, before), want("after no change", same, before))
}

func pages(ctx context.Context, s workspace.Store, _ *Clock) error {
	org := uuid.New()
	var names []string
	for _, name := range []string{"b", "a", "a-b", "a/b", "B", "a~", "c"} {
		if _, err := put(ctx, s, ref(org, name), nil); err != nil {
			return err
		}
		names = append(names, name)
	}
	slices.Sort(names)
	var seen []string
	for after := ""; ; after = seen[len(seen)-1] {
		page, err := s.Workspaces(ctx, org, after, 3)
		if err != nil {
			return err
		}
		for _, w := range page {
			seen = append(seen, string(w.Name))
		}
		if len(page) < 3 {
			break
		}
	}
	count, err := s.Count(ctx, org)
	return errors.Join(err, want("names", seen, names), want("count", count, len(names)))
}

// variable is one of a name and a content.
func variable(name string, n int) workspace.Variable {
	sealed := []byte(fmt.Sprint("sealed\x00\xff", n))
	return workspace.Variable{
		Key: workspace.Key{Kind: workspace.TerraformVariable, Name: name}, HCL: n%2 == 0, Sensitive: n%3 == 0,
		Size: n, Sealed: sealed, UpdatedAt: at(n), UpdatedBy: by(name),
	}
}

// set changes variables.
func set(ctx context.Context, s workspace.Store, r workspace.Ref, all ...workspace.Variable) error {
	_, err := s.Update(ctx, r, func(*workspace.Workspace, []workspace.Variable) (workspace.Change, error) {
		return workspace.Change{Set: all, Touched: &workspace.Touched{By: by("setter"), At: at(9)}}, nil
	})
	return err
}

func unset(ctx context.Context, s workspace.Store, r workspace.Ref, keys ...workspace.Key) error {
	_, err := s.Update(ctx, r, func(*workspace.Workspace, []workspace.Variable) (workspace.Change, error) {
		return workspace.Change{Unset: keys, Touched: &workspace.Touched{By: by("setter"), At: at(9)}}, nil
	})
	return err
}

func revisions(ctx context.Context, s workspace.Store, _ *Clock) error {
	org := uuid.New()
	r, other, last := ref(org, "a"), ref(org, "b"), [2]int64{}
	for _, one := range []workspace.Ref{r, other} {
		if _, err := put(ctx, s, one, nil); err != nil {
			return err
		}
	}
	for i, step := range []struct {
		do   func() error
		both bool
	}{
		{func() error { return nil }, false},
		{func() error { return set(ctx, s, r, variable("x", 1), variable("y", 2)) }, false},
		{func() error { return set(ctx, s, r, variable("x", 3)) }, false},
		{func() error { return set(ctx, s, ref(org, ""), variable("x", 3)) }, true},
		{func() error { return unset(ctx, s, r, variable("x", 3).Key) }, false},
		{func() error { return unset(ctx, s, ref(org, ""), variable("x", 3).Key) }, true},
	} {
		if err := step.do(); err != nil {
			return err
		}
		a, err := s.Workspace(ctx, r)
		if err != nil {
			return err
		}
		b, err := s.Workspace(ctx, other)
		if err != nil {
			return err
		}
		of, err := s.Variables(ctx, r)
		if err != nil {
			return err
		}
		if a.Revision <= last[0] || i > 0 && (b.Revision > last[1]) != step.both || of.Revision != a.Revision {
			return fmt.Errorf("step %d: revisions %d and %d after %v, and %d with the variables", i, a.Revision, b.Revision,
				last, of.Revision)
		}
		if i > 0 && !step.both && (a.UpdatedBy != by("setter") || !a.UpdatedAt.Equal(at(9))) {
			return fmt.Errorf("step %d: it was changed by %v at %v", i, a.UpdatedBy, a.UpdatedAt)
		}
		last = [2]int64{a.Revision, b.Revision}
	}
	return nil
}

func oneAfterAnother(ctx context.Context, s workspace.Store, _ *Clock) error {
	r := ref(uuid.New(), "a")
	if _, err := put(ctx, s, r, nil); err != nil {
		return err
	}
	var all sync.WaitGroup
	failed := make(chan error, 8)
	for range 8 {
		all.Go(func() {
			for range 5 {
				if _, err := put(ctx, s, r, func(w *workspace.Workspace) { w.Settings.Parallelism++ }); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(failed)
	w, err := s.Workspace(ctx, r)
	return errors.Join(err, <-failed, want("changes", w.Settings.Parallelism, 40))
}

func variables(ctx context.Context, s workspace.Store, _ *Clock) error {
	org := uuid.New()
	r := ref(org, "a")
	if _, err := put(ctx, s, r, nil); err != nil {
		return err
	}
	environment := variable("b", 5)
	environment.Kind = workspace.EnvironmentVariable
	if err := set(ctx, s, r, variable("b", 6), variable("a", 1), environment, variable("gone", 4)); err != nil {
		return err
	}
	if err := set(ctx, s, ref(org, ""), variable("a", 7)); err != nil {
		return err
	}
	if err := set(ctx, s, r, variable("a", 2)); err != nil {
		return err
	}
	if err := unset(ctx, s, r, variable("gone", 4).Key, variable("never", 4).Key); err != nil {
		return err
	}
	own := []workspace.Variable{environment, variable("a", 2), variable("b", 6)}
	got, err := s.Variables(ctx, r)
	if err != nil {
		return err
	}
	var given []workspace.Variable
	_, err = s.Update(ctx, r, func(_ *workspace.Workspace, own []workspace.Variable) (workspace.Change, error) {
		given = own
		return workspace.Change{}, nil
	})
	if err != nil {
		return err
	}
	shared, err := s.Variables(ctx, ref(org, ""))
	if err != nil {
		return err
	}
	_, absent := s.Variables(ctx, ref(org, "absent"))
	return errors.Join(want("own", got.Own, own), want("given to a decision", given, own),
		want("the organization's", got.Organizations, []workspace.Variable{variable("a", 7)}),
		want("the organization's alone", shared.Organizations, got.Organizations), want("own of nobody", len(shared.Own), 0),
		wantCode("of no workspace", absent, fault.WorkspaceNotFound))
}

// namesByByte has names that a database may find equal.
func namesByByte(ctx context.Context, s workspace.Store, _ *Clock) error {
	r := ref(uuid.New(), "a")
	for _, name := range []string{"a", "A"} {
		if _, err := put(ctx, s, ref(r.Org, name), nil); err != nil {
			return err
		}
	}
	names := []string{"straße", "strasse", "STRASSE", "é", "e", "É", strings.Repeat("x", 255)}
	for i, name := range names {
		if err := set(ctx, s, r, variable(name, i)); err != nil {
			return err
		}
	}
	got, err := s.Variables(ctx, r)
	other, failed := s.Variables(ctx, ref(r.Org, "A"))
	return errors.Join(err, failed, want("variables", len(got.Own), len(names)), want("of another", len(other.Own), 0))
}

func deletion(ctx context.Context, s workspace.Store, _ *Clock) error {
	r := ref(uuid.New(), "a")
	if _, err := put(ctx, s, r, nil); err != nil {
		return err
	}
	if err := set(ctx, s, r, variable("x", 1)); err != nil {
		return err
	}
	if _, err := push(ctx, s, r, nil, "one"); err != nil {
		return err
	}
	gone, err := remove(ctx, s, r)
	if err != nil {
		return err
	}
	_, err = s.Workspace(ctx, r)
	if err := errors.Join(want("deleted", gone, workspace.Workspace{}),
		wantCode("deleted", err, fault.WorkspaceNotFound)); err != nil {
		return err
	}
	anew, err := put(ctx, s, r, nil)
	if err != nil {
		return err
	}
	have, err := s.Variables(ctx, r)
	if err != nil {
		return err
	}
	left, err := s.Entries(ctx, r, 0, 10)
	return errors.Join(err, want("variables of a new one", len(have.Own), 0), want("snapshots of a new one", len(left), 0),
		want("newest of a new one", anew.Newest, workspace.Entry{}))
}

func remove(ctx context.Context, s workspace.Store, r workspace.Ref) (workspace.Workspace, error) {
	return s.Update(ctx, r, func(*workspace.Workspace, []workspace.Variable) (workspace.Change, error) {
		return workspace.Change{Delete: true}, nil
	})
}

func isolation(ctx context.Context, s workspace.Store, _ *Clock) error {
	mine, other := ref(uuid.New(), "a"), ref(uuid.New(), "a")
	if _, err := put(ctx, s, mine, nil); err != nil {
		return err
	}
	if err := set(ctx, s, mine, variable("x", 1)); err != nil {
		return err
	}
	if err := set(ctx, s, ref(mine.Org, ""), variable("x", 1)); err != nil {
		return err
	}
	e, err := push(ctx, s, mine, nil, "one")
	if err != nil {
		return err
	}
	_, err = s.Workspace(ctx, other)
	all, failed := s.Workspaces(ctx, other.Org, "", 10)
	if err := errors.Join(wantCode("another's", err, fault.WorkspaceNotFound), failed,
		want("another's list", len(all), 0)); err != nil {
		return err
	}
	w, err := put(ctx, s, other, nil)
	if err != nil {
		return err
	}
	vars, err := s.Variables(ctx, other)
	if err != nil {
		return err
	}
	_, _, content := s.OpenContent(ctx, other.Org, digestOf("one"))
	_, files := s.Files(ctx, other.Org, e.ID)
	_, entry := s.Entry(ctx, other, 0, e.ID)
	sizes, err := s.Sizes(ctx, other.Org, []workspace.Digest{digestOf("one")})
	if err != nil {
		return err
	}
	bytes, err := s.StoredBytes(ctx, other.Org)
	_, failed = s.AddSnapshot(ctx, other, snapshotOf("one"), workspace.Entry{}, nil, nil)
	return errors.Join(err, want("revision", w.Revision, int64(1)),
		want("variables", len(vars.Own)+len(vars.Organizations), 0),
		want("content is not there", content != nil, true), wantCode("files", files, fault.SnapshotNotFound),
		wantCode("entry", entry, fault.SnapshotNotFound), want("sizes", len(sizes), 0), want("bytes", bytes, int64(0)),
		wantCode("another's contents", failed, fault.FilesMissing))
}

func events(ctx context.Context, s workspace.Store, _ *Clock) error {
	r := ref(uuid.New(), "a")
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
	if err := change("first", nil); err != nil {
		return err
	}
	if err := change("refused", errors.New("no")); err == nil {
		return errors.New("a refusal is gone")
	}
	if err := change("second", nil); err != nil {
		return err
	}
	if _, err := pushWith(ctx, s, r, nil, event("pushed"), "one"); err != nil {
		return err
	}
	if _, err := pushWith(ctx, s, r, nil, event("pushed again"), "one"); err != nil {
		return err
	}
	notes := func(org uuid.UUID) (notes []string, found []workspace.Undelivered, err error) {
		found, err = s.Undelivered(ctx, org, 10)
		for _, e := range found {
			notes = append(notes, e.Event.Note)
		}
		return notes, found, err
	}
	seen, found, err := notes(r.Org)
	all, _, failed := notes(uuid.Nil)
	others, _, alsoFailed := notes(uuid.New())
	expected := []string{"first", "second", "pushed"}
	if err := errors.Join(err, failed, alsoFailed, want("events", seen, expected), want("of all", all, expected),
		want("of others", len(others), 0)); err != nil {
		return err
	}
	if err := errors.Join(want("event", found[0].Event, *event("first")), s.Forget(ctx, found[0]),
		s.Forget(ctx, found[0])); err != nil {
		return err
	}
	seen, _, err = notes(r.Org)
	return errors.Join(err, want("left", seen, expected[1:]))
}

func endedContext(ctx context.Context, s workspace.Store, _ *Clock) error {
	ended, cancel := context.WithCancel(ctx)
	cancel()
	r := ref(uuid.New(), "a")
	if _, err := put(ended, s, r, nil); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("a change whose context has ended: %w", err)
	}
	_, err := s.Workspace(ctx, r)
	return wantCode("it was made", err, fault.WorkspaceNotFound)
}
