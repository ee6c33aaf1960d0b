package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/seal/sealtest"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// TestDiskFull fills a real, small disk: first through the store, then beside it.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("this process may not mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil { // busy when the store left a file open
			t.Error(err)
		}
	})
	clock := &clock{now: time.Now()}
	s, err := Open(t.Context(), Options{Dir: dir, Now: clock.Now, Master: sealtest.Master()})
	if err != nil {
		t.Fatal(err)
	}
	fine := fillStore(t, s)
	filler := filepath.Join(dir, "filler")
	_ = os.WriteFile(filler, make([]byte, 4<<20), 0o600) // until it is full
	wantEventually(t, s, clock, fault.StoreFull)
	for ref, body := range fine {
		wantBody(t, s, ref, body)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=16m"); err != nil {
		t.Fatal(err)
	}
	wantEventually(t, s, clock, "")
	mustPut(t, s, newRef("after"), noise(500_000))
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// fillStore writes until the disk is full, and returns what was acknowledged.
func fillStore(t *testing.T, s *Store) map[state.Ref][]byte {
	t.Helper()
	fine := map[state.Ref][]byte{}
	for range 1000 {
		ref, body := newRef("fill"), noise(50_000)
		_, err := put(s, ref, body)
		if err != nil {
			wantFault(t, err, fault.StoreFull)
			if head, err := s.Head(context.Background(), ref); err != nil || head != (state.Head{}) {
				t.Errorf("head %+v (%v), want nothing half-written", head, err)
			}
			return fine
		}
		fine[ref] = body
	}
	t.Fatal("the disk never was full")
	return nil
}

// wantEventually asks Ready until it gives the fault, or none.
func wantEventually(t *testing.T, s *Store, clock *clock, code fault.Code) {
	t.Helper()
	var err error
	for range 1000 {
		clock.Add(stateengine.ReadyFor)
		if err = s.Ready(t.Context()); code == "" && err == nil || code != "" && fault.Is(err, code) {
			return
		}
	}
	t.Fatalf("Ready says %v after 1000 probes, want %q", err, code)
}
