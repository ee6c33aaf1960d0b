package csv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// TestRemembered sends an upload again for as long as it is remembered, across restarts.
func TestRemembered(t *testing.T) {
	dir, org, c := t.TempDir(), uuid.New(), newClock()
	s := openIn(t, Options{Dir: dir, Now: c.Now})
	batch := newBatch(org, 2)
	first := upload(t, s, batch)
	for _, step := range []time.Duration{time.Hour, 6 * 24 * time.Hour, inventory.RememberFor - (6*24+1)*time.Hour} {
		shut(t, s)
		c.move(step)
		s = openIn(t, Options{Dir: dir, Now: c.Now})
		s.prune(nil)
		again := batch
		again.Request = "another"
		receipt := upload(t, s, again)
		want := first
		want.Replayed = true
		if receipt != want {
			t.Fatalf("%+v, want %+v", receipt, want)
		}
		again.Digest[0]++
		if _, err := s.Append(t.Context(), again); !fault.Is(err, fault.IdempotencyMismatch) {
			t.Fatalf("error %v", err)
		}
	}
	c.move(time.Second)
	s.prune(nil)
	if receipt := upload(t, s, batch); receipt.Replayed {
		t.Error("an upload is remembered for too long")
	}
	wantBatches(t, s, org, batch, batch)
}

// TestCloseLeavesNoWAL closes a store, in a folder that is given as a relative path, whose
// index was written and read.
func TestCloseLeavesNoWAL(t *testing.T) {
	dir, org := t.TempDir(), uuid.New()
	t.Chdir(dir)
	s, batch := openDir(t, "data"), newBatch(org, 2)
	upload(t, s, batch)
	wantBatches(t, s, org, batch)
	path := filepath.Join(dir, "data", indexName)
	if _, err := os.Stat(path + "-wal"); err != nil {
		t.Fatal(err)
	}
	shut(t, s)
	if left, err := filepath.Glob(path + "*"); err != nil || len(left) != 1 {
		t.Errorf("Close left %v (%v)", left, err)
	}
	wantBatches(t, openDir(t, dir+"/data"), org, batch)
}

func TestPruneInPieces(t *testing.T) {
	c := newClock()
	s := openIn(t, Options{Dir: t.TempDir(), Now: c.Now})
	org := uuid.New()
	batches := map[uuid.UUID]inventory.Batch{}
	for range 2*prunePiece + 10 {
		batches[uuid.New()] = newBatch(org, 1)
	}
	appendAll(t, s, batches)
	c.move(inventory.RememberFor + time.Second)
	fresh := newBatch(org, 1)
	upload(t, s, fresh)
	s.prune(nil)
	var ids []string
	for _, b := range batches {
		ids = append(ids, b.ID)
	}
	head, err := s.index.Head(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := s.index.Find(t.Context(), head.ID, ids); err != nil || len(found) > 0 {
		t.Errorf("%d old uploads are remembered (%v)", len(found), err)
	}
	if receipt := upload(t, s, fresh); !receipt.Replayed {
		t.Error("a fresh upload is forgotten")
	}
}

// TestClockGoesBack never lets a timestamp do so, also across a restart.
func TestClockGoesBack(t *testing.T) {
	dir, org, c := t.TempDir(), uuid.New(), newClock()
	s := openIn(t, Options{Dir: dir, Now: c.Now})
	var newest time.Time
	for i, step := range []time.Duration{0, time.Second, -time.Hour, time.Minute, 2 * time.Hour, -24 * time.Hour} {
		c.move(step)
		receipt := upload(t, s, newBatch(org, 2))
		if receipt.At.Before(newest) || receipt.At.Nanosecond()%1000 != 0 || receipt.At.Location() != time.UTC {
			t.Errorf("upload %d at %v, after %v", i, receipt.At, newest)
		}
		newest = receipt.At
		if i%2 == 1 {
			shut(t, s)
			s = openIn(t, Options{Dir: dir, Now: c.Now})
		}
	}
	early := newBatch(org, 1)
	early.At = newest.Add(-time.Microsecond)
	if _, err := s.Append(t.Context(), early); err == nil {
		t.Error("a timestamp before the newest was taken")
	}
	early.At = newest
	if receipt := upload(t, s, early); receipt.At != newest {
		t.Errorf("recorded at %v, want %v", receipt.At, newest)
	}
	text := contents(t, s.path(org))
	last := ""
	for i, line := range strings.Split(strings.TrimSuffix(text, "\r\n"), "\r\n") {
		if i > 0 && line[:27] < last {
			t.Errorf("line %d: %s after %s", i+1, line[:27], last)
		} else if i > 0 {
			last = line[:27]
		}
	}
}

// TestModes looks at everything that the store makes, under a careless umask's default.
func TestModes(t *testing.T) {
	dir, org := filepath.Join(t.TempDir(), "a", "data"), uuid.New()
	s := openDir(t, dir)
	upload(t, s, newBatch(org, 1))
	if err := s.Status(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantMode(t, dir, 0o700)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) < 4 {
		t.Errorf("%v", entries)
	}
	for _, e := range entries {
		wantMode(t, filepath.Join(dir, e.Name()), 0o600)
	}
}

func TestOneProcess(t *testing.T) {
	dir := t.TempDir()
	s := openDir(t, dir)
	if _, err := Open(t.Context(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("the directory was opened twice: %v", err)
	}
	shut(t, s)
	openDir(t, dir)
}

// TestTrust does not read a file again that is as it was left.
func TestTrust(t *testing.T) {
	dir, org := t.TempDir(), uuid.New()
	s := openDir(t, dir)
	batches := tenUploads(t, s, org)
	for range 2 {
		before, err := s.index.Head(t.Context(), org)
		if err != nil {
			t.Fatal(err)
		}
		now, err := lookAt(s.path(org))
		if err != nil || now.seal != before.Seal || now.size != before.Length {
			t.Errorf("%+v, but the index has %+v (%v)", now, before, err)
		}
		shut(t, s)
		s = openDir(t, dir)
		wantBatches(t, s, org, batches...)
		if err := os.Chmod(s.path(org), 0o600); err != nil { // a new change time
			t.Fatal(err)
		}
		wantBatches(t, s, org, batches...) // verified, and trusted from now on
	}
}
