package sqlite

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// sweeps returns how many sweeps had something to do.
func (s *Store) sweeps() int {
	s.sweeper.mu.Lock()
	defer s.sweeper.mu.Unlock()
	return s.sweeper.begun
}

// pin has a reader keep what it sees, which is in the way of every sweep, until it lets go.
func pin(t *testing.T, s *Store) (letGo func()) {
	t.Helper()
	r := <-s.readers
	rows, err := r.conn.QueryContext(context.Background(), "SELECT id FROM versions UNION ALL SELECT 2")
	if err != nil || !rows.Next() {
		t.Fatal(err)
	}
	return func() {
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
		s.readers <- r
	}
}

// wantSwept wants no sweep to be owed.
func wantSwept(t *testing.T, s *Store) {
	t.Helper()
	if owed, err := s.owedSweep(t.Context()); err != nil || owed != 0 {
		t.Errorf("the sweep for purge %d is owed, %v", owed, err)
	}
}

// TestPurgeAgain purges over and over what is purged already: each is on record, and the
// files are gone through once.
func TestPurgeAgain(t *testing.T) {
	s, _ := opened(t)
	ref := newRef("again")
	mustPut(t, s, ref, realState(10_000))
	const again = 50
	for range 2 {
		var all sync.WaitGroup
		for range again {
			all.Go(func() {
				if err := s.Purge(t.Context(), ref, 1, audit.Event{Action: audit.VersionPurge}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	if n := s.sweeps(); n != 1 {
		t.Errorf("%d purges of one version went through the files %d times", 2*again, n)
	}
	page, err := s.Events(t.Context(), ref.Org, audit.Query{Action: audit.VersionPurge, Limit: 999})
	if err != nil || len(page.Events) != 2*again {
		t.Errorf("%d events, %v", len(page.Events), err)
	}
	wantSwept(t, s)
}

// TestPurgesShareASweep has many purges wait for a sweep that can't go on: they need one
// more.
func TestPurgesShareASweep(t *testing.T) {
	s, _ := opened(t)
	ref, body := newRef("shared"), realState(10_000)
	const versions = 20
	for range versions {
		mustPut(t, s, ref, body)
	}
	letGo := pin(t, s)
	var all sync.WaitGroup
	for number := range uint64(versions) {
		all.Go(func() {
			if err := s.Purge(t.Context(), ref, number+1, audit.Event{}); err != nil {
				t.Error(err)
			}
		})
	}
	for owed := int64(0); owed < versions; runtime.Gosched() {
		var err error
		if owed, err = s.owedSweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	letGo()
	all.Wait()
	if n := s.sweeps(); n > 2 {
		t.Errorf("%d purges went through the files %d times", versions, n)
	}
	wantSwept(t, s)
}

// TestSweepOfNothing has a sweep find nothing to overwrite: it writes that it is done, and
// no more.
func TestSweepOfNothing(t *testing.T) {
	s, _ := opened(t)
	mustPut(t, s, newRef("a"), realState(10_000))
	if err := s.clearGaps(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := s.writer.Commits()
	if err := s.clearGaps(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := s.writer.Commits() - before; n != 0 {
		t.Errorf("the writer had %d transactions for a file without anything in its gaps", n)
	}
}

// TestSweepIsOwed ends processes between a purge and its sweep: the next one makes up for
// it, and says nothing else to who asks again before it has.
func TestSweepIsOwed(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	ref := newRef("owed")
	others := newRef("others")
	var gone []stateengine.Stored
	for i := range 30 {
		body := noise(300 + 40*i)
		mustPut(t, s, others, noise(700))
		mustPut(t, s, ref, body)
		gone = append(gone, s.bodies.Codec.Encode(body), stateengine.Stored{Encoding: stateengine.EncodingRaw, Bytes: body})
	}
	for number := range uint64(30) {
		err := s.transact(t.Context(), server(), func(w *session) error {
			_, _, err := w.purge(ref, number+1, audit.Event{})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	defer s.Close()
	if err := s.Purge(t.Context(), ref, 1, audit.Event{}); err != nil {
		t.Fatal(err)
	}
	if n := s.sweeps(); n != 1 {
		t.Errorf("%d sweeps, want the one that was owed", n)
	}
	wantSwept(t, s)
	wantGone(t, s, dir, gone)
}

// TestCloseEndsASweep closes the store while a purge waits for its sweep: it is told that
// the files are not clear of the bytes, and the sweep stays owed.
func TestCloseEndsASweep(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	ref := newRef("closed")
	mustPut(t, s, ref, realState(10_000))
	letGo := pin(t, s)
	purged := make(chan error)
	go func() { purged <- s.Purge(context.Background(), ref, 1, audit.Event{}) }()
	for s.sweeps() == 0 {
		runtime.Gosched()
	}
	s.sweeper.stop()
	wantFault(t, <-purged, fault.StoreUnavailable)
	letGo()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	defer s.Close()
	if err := s.Purge(t.Context(), ref, 1, audit.Event{}); err != nil || s.sweeps() != 1 {
		t.Errorf("purged again: %v, %d sweeps", err, s.sweeps())
	}
	wantSwept(t, s)
}
