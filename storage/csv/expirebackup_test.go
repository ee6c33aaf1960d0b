package csv

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/backup"
)

// TestBackupsWhileRecordsExpire fixes moments while records come and go: each that can be had opens, has what was
// acknowledged before, and nothing that was gone before.
func TestBackupsWhileRecordsExpire(t *testing.T) {
	dir, org, days := t.TempDir(), uuid.New(), 40
	s := openIn(t, Options{Dir: dir, flushEvery: time.Millisecond})
	batches := daily(t, s, org, 0, 6)
	var mu sync.Mutex
	acked, gone, ended := len(batches), 0, false
	for day := range days {
		b := newBatch(org, 3)
		b.At = longAgo().AddDate(0, 0, 6+day)
		batches = append(batches, b)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for day := range days {
			upload(t, s, batches[6+day])
			mu.Lock()
			acked = 7 + day
			mu.Unlock()
			if _, err := s.Expire(t.Context(), org, longAgo().AddDate(0, 0, day+1), 1); err != nil {
				t.Errorf("Expire: %v", err)
			}
			mu.Lock()
			gone = day + 1
			mu.Unlock()
		}
		mu.Lock()
		ended = true
		mu.Unlock()
	})
	for had := 0; ; {
		mu.Lock()
		first, last, done := gone, acked, ended
		mu.Unlock()
		moment, err := backup.Folder{Dir: dir, Elsewhere: []string{"state.db"}}.Fix(t.Context(), time.Now())
		if err != nil && !strings.Contains(err.Error(), "try again") {
			t.Fatal(err)
		}
		if err == nil {
			had++
			wantMoment(t, moment, org, batches, first, last)
		}
		if done && had > 0 {
			t.Logf("%d moments", had)
			break
		}
	}
	running.Wait()
}

// wantMoment opens a copy: it has the batches from the first one or a later one on, to the last one or a later one.
func wantMoment(t *testing.T, moment *backup.Moment, org uuid.UUID, batches []inventory.Batch, first, last int) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range moment.Files {
		text, err := io.ReadAll(io.LimitReader(f.Content, f.Size))
		if err = errors.Join(err, os.WriteFile(filepath.Join(dir, f.Name), text, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := moment.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, s)
	got := names(t, s, org)
	from := slices.IndexFunc(batches, func(b inventory.Batch) bool {
		return len(got) > 0 && string(b.Resources[0].Attributes) == got[0]
	})
	if from < first || from+len(got)/3 < last {
		t.Fatalf("a moment has %d records from batch %d on, want %d to %d", len(got), from, first, last)
	}
	wantWhole(t, s, org, batches[from:from+len(got)/3]...)
}
