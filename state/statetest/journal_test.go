package statetest_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/statetest"
	"github.com/holdfast/holdfast/storage/memory"
)

// journal is the smallest engine that survives its process: a store in memory, and a file
// of the changes that led to it. It doesn't outlive the machine: it never syncs.
type journal struct {
	state.Store
	mu   sync.Mutex
	file *os.File
	// How it can be broken.
	delay  int // records that are acknowledged before they are written
	edit   func(*state.Change)
	behind bytes.Buffer
	queued int
}

// record is one change with a body, or the removal of a state.
type record struct {
	Ref    state.Ref
	Body   []byte
	Change state.Change

	Expunge bool
	Before  time.Time
	Event   audit.Event
}

// redo makes the change again.
func (r record) redo(ctx context.Context, store state.Store) error {
	if r.Expunge {
		_, err := store.Expunge(ctx, r.Ref, r.Before, 1, r.Event)
		return err
	}
	_, err := store.Update(ctx, r.Ref, r.Body, func(state.Head) (state.Change, error) { return r.Change, nil })
	return err
}

func openJournal(dir string) (*journal, error) {
	file, err := os.OpenFile(filepath.Join(dir, "journal"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{Store: memory.New(1 << 30), file: file, edit: func(*state.Change) {}}
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	good := int64(0)
	for rest := bytes.NewReader(data); rest.Len() > 0; good = int64(len(data) - rest.Len()) {
		var r record
		// Each record has a decoder of its own; bytes.Reader is not read ahead of it.
		if err := gob.NewDecoder(rest).Decode(&r); err != nil {
			break // the kill came in mid-write
		}
		if err := r.redo(context.Background(), j.Store); err != nil {
			return nil, err
		}
	}
	_, seekErr := file.Seek(good, io.SeekStart)
	return j, errors.Join(file.Truncate(good), seekErr)
}

func (j *journal) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var made state.Change
	head, err := j.Store.Update(ctx, ref, body, func(h state.Head) (change state.Change, err error) {
		made, err = decide(h)
		return made, err
	})
	if err != nil || made.Empty() {
		return head, err
	}
	if made.Version == nil && made.Candidate == nil {
		body = nil
	}
	j.edit(&made)
	return head, j.write(record{Ref: ref, Body: body, Change: made})
}

// Expunge takes everything in one piece.
func (j *journal) Expunge(ctx context.Context, ref state.Ref, before time.Time, limit int,
	event audit.Event) (bool, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	done, err := j.Store.Expunge(ctx, ref, before, limit, event)
	if err != nil {
		return done, err
	}
	return done, j.write(record{Ref: ref, Expunge: true, Before: before, Event: event})
}

func (j *journal) write(r record) error {
	if err := gob.NewEncoder(&j.behind).Encode(r); err != nil {
		return err
	}
	if j.queued++; j.queued > j.delay {
		return j.flush()
	}
	return nil
}

func (j *journal) flush() error {
	_, err := j.file.Write(j.behind.Bytes())
	j.behind.Reset()
	j.queued = 0
	return err
}

func (j *journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return errors.Join(j.flush(), j.Store.Close(), j.file.Close())
}

// openBroken opens the journal in the way that the environment names.
func openBroken(dir string) (state.Store, error) {
	j, err := openJournal(dir)
	if err != nil {
		return nil, err
	}
	switch os.Getenv(brokenName) {
	case "survives nothing":
		return memory.New(1 << 30), j.Close()
	case "writes late":
		j.delay = 3
	case "tears apart":
		j.edit = func(c *state.Change) { c.Release = c.Release && c.Version == nil }
	case "loses locks":
		j.edit = func(c *state.Change) { c.Lock = nil }
	}
	return j, nil
}

func openDurable(t *testing.T, dir string) state.Store {
	t.Helper()
	store, err := openBroken(dir)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// TestJournal holds the journal to both suites, so that it is no excuse for what they say
// of broken ones.
func TestJournal(t *testing.T) {
	suite.Deep(t)
	statetest.RunStore(t, func(t *testing.T) state.Store { return openDurable(t, t.TempDir()) })
	statetest.RunDurable(t, openDurable)
}

// TestBrokenDurable is what TestDurableNotices runs in a process of its own.
func TestBrokenDurable(t *testing.T) {
	if os.Getenv(brokenName) == "" {
		t.Skip("only TestDurableNotices runs this")
	}
	statetest.RunDurable(t, openDurable)
}

// TestDurableNotices proves that RunDurable can fail.
func TestDurableNotices(t *testing.T) {
	suite.Deep(t)
	for broken, check := range map[string]string{
		"survives nothing": "Reopen",
		"writes late":      "Kill",
		"tears apart":      "Kill",
		"loses locks":      "Kill",
	} {
		t.Run(broken, func(t *testing.T) {
			t.Parallel()
			suite.Fails(t, brokenName+"="+broken, "TestBrokenDurable/"+check)
		})
	}
}
