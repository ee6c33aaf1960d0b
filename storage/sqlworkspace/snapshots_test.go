package sqlworkspace_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/workspace"
)

// snapshotOf has a file for each content.
func snapshotOf(contents ...string) workspace.Snapshot {
	var files []workspace.File
	for i, c := range contents {
		files = append(files, workspace.File{Path: fmt.Sprintf("dir/ü %d.txt", i), Executable: i == 1, Size: int64(len(c)),
			Digest: digestOf(c)})
	}
	s, err := workspace.NewSnapshot(files, workspace.Limits{})
	if err != nil {
		panic(err) // the test's own fault
	}
	return s
}

// push puts contents and makes a snapshot of them.
func (s workspaces) push(ctx context.Context, r workspace.Ref, parent *int64, event *audit.Event,
	contents ...string) (workspace.Entry, error) {
	s.t.Helper()
	for _, c := range contents {
		_, _, err := s.PutContent(ctx, r.Org, strings.NewReader(c), 1<<20)
		s.must(err)
	}
	about := workspace.Entry{Message: "message ü", CreatedAt: at(4), CreatedBy: by("pusher")}
	return s.AddSnapshot(ctx, r, snapshotOf(contents...), about, parent, event)
}

func (s workspaces) mustPush(r workspace.Ref, contents ...string) workspace.Entry {
	s.t.Helper()
	e, err := s.push(s.t.Context(), r, nil, nil, contents...)
	s.must(err)
	return e
}

func TestSnapshots(t *testing.T) {
	onEach(t, func(t *testing.T, s workspaces) {
		ctx, r := t.Context(), ref(uuid.New(), "a")
		_, err := s.push(ctx, r, nil, nil, "one")
		suite.Fault(t, "of no workspace", err, fault.WorkspaceNotFound)
		before := s.put(r)
		many := make([]string, 500) // more than one statement names
		for i := range many {
			many[i] = fmt.Sprint("content ", i)
		}
		e, snapshot := s.mustPush(r, many...), snapshotOf(many...)
		expected := workspace.Entry{Number: 1, ID: snapshot.ID, Files: 500, Bytes: snapshot.Bytes(), Message: "message ü",
			CreatedAt: at(4), CreatedBy: by("pusher")}
		want(t, "entry", e, expected)
		files, err := s.Files(ctx, r.Org, e.ID)
		s.must(err)
		want(t, "files", files, snapshot)
		w := s.get(r)
		want(t, "newest", w.Newest, expected)
		want(t, "revision", w.Revision, before.Revision)
		byNumber, err := s.Entry(ctx, r, 1, workspace.Digest{})
		s.must(err)
		want(t, "by number", byNumber, expected)
		byID, err := s.Entry(ctx, r, 0, e.ID)
		s.must(err)
		want(t, "by ID", byID, expected)
	})
}

func TestSameSnapshot(t *testing.T) {
	onEach(t, func(t *testing.T, s workspaces) {
		ctx, r := t.Context(), ref(uuid.New(), "a")
		s.put(r)
		first := s.mustPush(r, "one")
		parent := int64(7) // also whoever builds on another one finds it
		again, err := s.push(ctx, r, &parent, nil, "one")
		s.must(err)
		want(t, "again", again, first)
		s.mustPush(r, "two")
		want(t, "after another", s.mustPush(r, "one").Number, int64(3))
		all, err := s.Entries(ctx, r, 0, 10)
		s.must(err)
		want(t, "entries", len(all), 3)
		found, err := s.Entry(ctx, r, 0, first.ID)
		s.must(err)
		want(t, "newest of the ID", found.Number, int64(3))
	})
}

func TestParents(t *testing.T) {
	onEach(t, func(t *testing.T, s workspaces) {
		r := ref(uuid.New(), "a")
		s.put(r)
		for i, step := range []struct {
			parent int64
			moved  bool
		}{{1, true}, {0, false}, {0, true}, {2, true}, {1, false}} {
			_, err := s.push(t.Context(), r, &step.parent, nil, fmt.Sprint("content ", i))
			if step.moved != fault.Is(err, fault.SnapshotMoved) || !step.moved && err != nil {
				t.Errorf("step %d: %v", i, err)
			}
		}
		want(t, "newest", s.get(r).Newest.Number, int64(2))
	})
}

func TestMissingContents(t *testing.T) {
	onEach(t, func(t *testing.T, s workspaces) {
		ctx, r := t.Context(), ref(uuid.New(), "a")
		s.put(r)
		_, _, err := s.PutContent(ctx, r.Org, strings.NewReader("one"), 10)
		s.must(err)
		_, err = s.AddSnapshot(ctx, r, snapshotOf("one", "two"), workspace.Entry{}, nil, nil)
		suite.Fault(t, "missing", err, fault.FilesMissing)
		if details := fault.From(err).Details; len(details) != 1 || details[0].Rule != digestOf("two").String() {
			t.Errorf("missing are %v", details)
		}
		want(t, "newest", s.get(r).Newest.Number, int64(0))
		want(t, "number", s.mustPush(r, "one", "two").Number, int64(1))
	})
}

func TestEntries(t *testing.T) {
	onEach(t, func(t *testing.T, s workspaces) {
		ctx, r := t.Context(), ref(uuid.New(), "a")
		_, err := s.Entries(ctx, r, 0, 2)
		suite.Fault(t, "of no workspace", err, fault.WorkspaceNotFound)
		s.put(r)
		for i := range 5 {
			s.mustPush(r, fmt.Sprint("content ", i))
		}
		for _, number := range []int64{2, 2, 5} { // the second is gone, and the third is the newest
			s.must(s.RemoveEntry(ctx, r, number))
		}
		var seen []int64
		for before := int64(0); ; before = seen[len(seen)-1] {
			page, err := s.Entries(ctx, r, before, 2)
			s.must(err)
			for _, e := range page {
				seen = append(seen, e.Number)
			}
			if len(page) < 2 {
				break
			}
		}
		want(t, "numbers", seen, []int64{5, 4, 3, 1})
		_, err = s.Entry(ctx, r, 2, workspace.Digest{})
		suite.Fault(t, "removed", err, fault.SnapshotNotFound)
		_, err = s.Files(ctx, r.Org, snapshotOf("content 4").ID)
		s.must(err)
		want(t, "next", s.mustPush(r, "another").Number, int64(6))
	})
}

// What lies beside the row is none of it.
func TestBeside(t *testing.T) {
	onEach(t, func(t *testing.T, s workspaces) {
		ctx, r := t.Context(), ref(uuid.New(), "w")
		s.put(r)
		newest := s.mustPush(r, "one")
		var made []workspace.Entry
		for _, content := range []string{"two", "three", "two"} {
			_, _, err := s.PutContent(ctx, r.Org, strings.NewReader(content), 1<<20)
			s.must(err)
			e, err := s.AddBeside(ctx, r, snapshotOf(content), workspace.Entry{Message: content, CreatedAt: at(5)}, nil)
			s.must(err)
			made = append(made, e)
		}
		want(t, "newest", s.get(r).Newest.Number, newest.Number)
		want(t, "number", made[1].Number, int64(-2))
		want(t, "the same again", made[2].Number, made[0].Number)
		row, err := s.Entries(ctx, r, 0, 10)
		s.must(err)
		want(t, "row", len(row), 1)
		found, err := s.Beside(ctx, r, 10)
		if err != nil || len(found) != 2 || found[0].ID != made[1].ID {
			t.Fatalf("beside are %+v, %v", found, err)
		}
		_, err = s.Entry(ctx, r, 0, made[0].ID)
		suite.Fault(t, "by its ID", err, fault.SnapshotNotFound)
		s.must(s.RemoveEntry(ctx, r, made[1].Number))
		left, err := s.Beside(ctx, r, 10)
		s.must(err)
		want(t, "left", len(left), 1)
	})
}
