package workspacetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing/iotest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/workspace"
)

func digestOf(content string) workspace.Digest { return sha256.Sum256([]byte(content)) }

// snapshotOf has a file for each content.
func snapshotOf(contents ...string) workspace.Snapshot {
	var files []workspace.File
	for i, c := range contents {
		files = append(files, workspace.File{Path: fmt.Sprintf("dir/ü %d.txt", i), Executable: i == 1, Size: int64(len(c)),
			Digest: digestOf(c)})
	}
	s, err := workspace.NewSnapshot(files, workspace.Limits{})
	if err != nil {
		panic(err) // the suite's own fault
	}
	return s
}

// push puts contents and makes a snapshot of them.
func push(ctx context.Context, s workspace.Store, r workspace.Ref, parent *int64,
	contents ...string) (workspace.Entry, error) {
	return pushWith(ctx, s, r, parent, nil, contents...)
}

func pushWith(ctx context.Context, s workspace.Store, r workspace.Ref, parent *int64, event *audit.Event,
	contents ...string) (workspace.Entry, error) {
	for _, c := range contents {
		if _, _, err := s.PutContent(ctx, r.Org, strings.NewReader(c), 1<<20); err != nil {
			return workspace.Entry{}, err
		}
	}
	about := workspace.Entry{Message: "message ü", CreatedAt: at(4), CreatedBy: by("pusher")}
	return s.AddSnapshot(ctx, r, snapshotOf(contents...), about, parent, event)
}

// read returns a content, "-" for none.
func read(ctx context.Context, s workspace.Store, org uuid.UUID, d workspace.Digest) (string, error) {
	content, size, err := s.OpenContent(ctx, org, d)
	if errors.Is(err, fs.ErrNotExist) {
		return "-", nil
	}
	if err != nil {
		return "", err
	}
	all, err := io.ReadAll(content)
	return string(all), errors.Join(err, want("size", size, int64(len(all))))
}

func contents(ctx context.Context, s workspace.Store, _ *Clock) error {
	org, broken := uuid.New(), errors.New("the line broke")
	large := strings.Repeat("0123456789abcdef", 150_000) // more than a row may have
	var total int64
	for _, c := range []string{"", "small", "\x00\xff", large} {
		for range 2 {
			d, size, err := s.PutContent(ctx, org, iotest.OneByteReader(strings.NewReader(c[:min(len(c), 100)])), 100)
			if err := errors.Join(err, want("digest", d, digestOf(c[:min(len(c), 100)])),
				want("size", size, int64(min(len(c), 100)))); err != nil {
				return err
			}
			d, _, err = s.PutContent(ctx, org, strings.NewReader(c), int64(len(c)))
			if err != nil {
				return err
			}
			if got, err := read(ctx, s, org, d); err != nil || got != c {
				return fmt.Errorf("a content of %d bytes came back with %d, %w", len(c), len(got), err)
			}
		}
		total += int64(len(c))
	}
	total += 100 // the beginning of the large one
	if used, err := s.StoredBytes(ctx, org); err != nil || used != total {
		return fmt.Errorf("%d bytes are stored, want %d, %w", used, total, err)
	}
	_, _, err := s.PutContent(ctx, org, strings.NewReader(large+"!"), int64(len(large)))
	if err := wantCode("too long", err, fault.BodyTooLarge); err != nil {
		return err
	}
	if _, _, err := s.PutContent(ctx, org, io.MultiReader(strings.NewReader(large+"?"), iotest.ErrReader(broken)),
		1<<30); !errors.Is(err, broken) {
		return fmt.Errorf("a reader's error became %w", err)
	}
	for _, c := range []string{large + "!", large + "?", "never"} {
		if got, err := read(ctx, s, org, digestOf(c)); err != nil || got != "-" {
			return fmt.Errorf("what was not put is there, %w", err)
		}
	}
	sizes, err := s.Sizes(ctx, org, []workspace.Digest{digestOf("small"), digestOf("never"), digestOf(large)})
	return errors.Join(err, want("sizes", sizes,
		map[workspace.Digest]int64{digestOf("small"): 5, digestOf(large): int64(len(large))}))
}

func sent(ctx context.Context, s workspace.Store, clock *Clock) error {
	org := uuid.New()
	a, all := ref(org, "a"), []workspace.Digest{digestOf("one"), digestOf("two")}
	for range 2 {
		if err := s.NoteSent(ctx, a, digestOf("one")); err != nil {
			return err
		}
	}
	for r, sent := range map[workspace.Ref]map[workspace.Digest]bool{
		a: {digestOf("one"): true}, ref(org, "b"): {}, ref(uuid.New(), "a"): {},
	} {
		got, err := s.Sent(ctx, r, all)
		if err := errors.Join(err, want(fmt.Sprint("sent for ", r), got, sent)); err != nil {
			return err
		}
	}
	clock.Sleep(24 * time.Hour)
	if err := s.Sweep(ctx); err != nil {
		return err
	}
	got, err := s.Sent(ctx, a, all)
	return errors.Join(err, want("sent a day ago", got, map[workspace.Digest]bool{}))
}

func snapshots(ctx context.Context, s workspace.Store, _ *Clock) error {
	r := ref(uuid.New(), "a")
	if _, err := push(ctx, s, r, nil, "one"); !fault.Is(err, fault.WorkspaceNotFound) {
		return fmt.Errorf("of no workspace: %w", err)
	}
	before, err := put(ctx, s, r, nil)
	if err != nil {
		return err
	}
	many := make([]string, 500) // more than one statement names
	for i := range many {
		many[i] = fmt.Sprint("content ", i)
	}
	e, err := push(ctx, s, r, nil, many...)
	if err != nil {
		return err
	}
	snapshot := snapshotOf(many...)
	expected := workspace.Entry{Number: 1, ID: snapshot.ID, Files: 500, Bytes: snapshot.Bytes(), Message: "message ü",
		CreatedAt: at(4), CreatedBy: by("pusher")}
	got, err := s.Files(ctx, r.Org, e.ID)
	if err != nil {
		return err
	}
	w, err := s.Workspace(ctx, r)
	if err != nil {
		return err
	}
	byNumber, err := s.Entry(ctx, r, 1, workspace.Digest{})
	if err != nil {
		return err
	}
	byID, err := s.Entry(ctx, r, 0, e.ID)
	return errors.Join(err, want("entry", e, expected), want("files", got, snapshot), want("newest", w.Newest, expected),
		want("by number", byNumber, expected), want("by ID", byID, expected), want("revision", w.Revision, before.Revision))
}

func sameSnapshot(ctx context.Context, s workspace.Store, _ *Clock) error {
	r := ref(uuid.New(), "a")
	if _, err := put(ctx, s, r, nil); err != nil {
		return err
	}
	first, err := push(ctx, s, r, nil, "one")
	if err != nil {
		return err
	}
	one := int64(7) // also whoever builds on another one finds it
	again, err := push(ctx, s, r, &one, "one")
	if err := errors.Join(err, want("again", again, first)); err != nil {
		return err
	}
	if _, err := push(ctx, s, r, nil, "two"); err != nil {
		return err
	}
	third, err := push(ctx, s, r, nil, "one")
	all, failed := s.Entries(ctx, r, 0, 10)
	found, alsoFailed := s.Entry(ctx, r, 0, first.ID)
	return errors.Join(err, failed, alsoFailed, want("after another", third.Number, int64(3)),
		want("entries", len(all), 3), want("newest of the ID", found.Number, int64(3)))
}

func parents(ctx context.Context, s workspace.Store, _ *Clock) error {
	r := ref(uuid.New(), "a")
	if _, err := put(ctx, s, r, nil); err != nil {
		return err
	}
	for i, step := range []struct {
		parent int64
		code   fault.Code
	}{{1, fault.SnapshotMoved}, {0, ""}, {0, fault.SnapshotMoved}, {2, fault.SnapshotMoved}, {1, ""}} {
		_, err := push(ctx, s, r, &step.parent, fmt.Sprint("content ", i))
		if err := wantCode(fmt.Sprint("step ", i), err, step.code); err != nil {
			return err
		}
	}
	w, err := s.Workspace(ctx, r)
	return errors.Join(err, want("newest", w.Newest.Number, int64(2)))
}

func missingContents(ctx context.Context, s workspace.Store, _ *Clock) error {
	r := ref(uuid.New(), "a")
	if _, err := put(ctx, s, r, nil); err != nil {
		return err
	}
	if _, _, err := s.PutContent(ctx, r.Org, strings.NewReader("one"), 10); err != nil {
		return err
	}
	_, err := s.AddSnapshot(ctx, r, snapshotOf("one", "two"), workspace.Entry{}, nil, nil)
	if err := wantCode("missing", err, fault.FilesMissing); err != nil {
		return err
	}
	details := fault.From(err).Details
	if len(details) != 1 || details[0].Rule != digestOf("two").String() {
		return fmt.Errorf("missing are %v", details)
	}
	w, err := s.Workspace(ctx, r)
	if err := errors.Join(err, want("newest", w.Newest.Number, int64(0))); err != nil {
		return err
	}
	e, err := push(ctx, s, r, nil, "one", "two")
	return errors.Join(err, want("number", e.Number, int64(1)))
}

func entries(ctx context.Context, s workspace.Store, _ *Clock) error {
	r := ref(uuid.New(), "a")
	_, err := s.Entries(ctx, r, 0, 2)
	if err := wantCode("of no workspace", err, fault.WorkspaceNotFound); err != nil {
		return err
	}
	if _, err := put(ctx, s, r, nil); err != nil {
		return err
	}
	for i := range 5 {
		if _, err := push(ctx, s, r, nil, fmt.Sprint("content ", i)); err != nil {
			return err
		}
	}
	if err := errors.Join(s.RemoveEntry(ctx, r, 2), s.RemoveEntry(ctx, r, 2), s.RemoveEntry(ctx, r, 5)); err != nil {
		return err
	}
	var seen []int64
	for before := int64(0); ; before = seen[len(seen)-1] {
		page, err := s.Entries(ctx, r, before, 2)
		if err != nil {
			return err
		}
		for _, e := range page {
			seen = append(seen, e.Number)
		}
		if len(page) < 2 {
			break
		}
	}
	_, removed := s.Entry(ctx, r, 2, workspace.Digest{})
	_, files := s.Files(ctx, r.Org, snapshotOf("content 4").ID)
	e, err := push(ctx, s, r, nil, "another")
	return errors.Join(err, files, want("numbers", seen, []int64{5, 4, 3, 1}), want("next", e.Number, int64(6)),
		wantCode("removed", removed, fault.SnapshotNotFound))
}

// neededContents has the same contents in several snapshots: they stay until the last one goes.
func neededContents(ctx context.Context, s workspace.Store, clock *Clock) error {
	org := uuid.New()
	a, b := ref(org, "a"), ref(org, "b")
	for _, r := range []workspace.Ref{a, b} {
		if _, err := put(ctx, s, r, nil); err != nil {
			return err
		}
		if _, err := push(ctx, s, r, nil, "shared", "one"); err != nil {
			return err
		}
		if _, err := push(ctx, s, r, nil, "shared", "two"); err != nil {
			return err
		}
	}
	if _, _, err := s.PutContent(ctx, org, bytes.NewReader([]byte("unneeded")), 100); err != nil {
		return err
	}
	for i, step := range []struct {
		do   func() error
		left []string
	}{
		{func() error { return nil }, []string{"shared", "one", "two", "-"}},
		{func() error { return s.RemoveEntry(ctx, a, 1) }, []string{"shared", "one", "two", "-"}},
		{func() error { return s.RemoveEntry(ctx, b, 1) }, []string{"shared", "-", "two", "-"}},
	} {
		if err := step.do(); err != nil {
			return err
		}
		clock.Sleep(24 * time.Hour)
		if err := s.Sweep(ctx); err != nil {
			return err
		}
		var left []string
		for _, c := range []string{"shared", "one", "two", "unneeded"} {
			got, err := read(ctx, s, org, digestOf(c))
			if err != nil {
				return err
			}
			left = append(left, got)
		}
		if err := want(fmt.Sprint("step ", i), left, step.left); err != nil {
			return err
		}
	}
	_, gone := s.Files(ctx, org, snapshotOf("shared", "one").ID)
	bytes, err := s.StoredBytes(ctx, org)
	if err != nil {
		return err
	}
	if bytes < 9 || bytes > 9+4096 { // with lists or without
		return fmt.Errorf("%d bytes are stored", bytes)
	}
	e, err := push(ctx, s, a, nil, "shared", "one")
	return errors.Join(err, wantCode("a snapshot that nobody has", gone, fault.SnapshotNotFound),
		want("pushed again", e.Number, int64(3)))
}

func sweepAfterDeletion(ctx context.Context, s workspace.Store, clock *Clock) error {
	org := uuid.New()
	r := ref(org, "a")
	if _, err := put(ctx, s, r, nil); err != nil {
		return err
	}
	if _, err := push(ctx, s, r, nil, "one"); err != nil {
		return err
	}
	if _, err := remove(ctx, s, r); err != nil {
		return err
	}
	// The first sweep lets go of what the workspace needed, and a later one removes it.
	for range 2 {
		if err := s.Sweep(ctx); err != nil {
			return err
		}
		clock.Sleep(24 * time.Hour)
	}
	if err := s.Sweep(ctx); err != nil {
		return err
	}
	got, err := read(ctx, s, org, digestOf("one"))
	bytes, failed := s.StoredBytes(ctx, org)
	return errors.Join(err, failed, want("content", got, "-"), want("bytes", bytes, int64(0)))
}
