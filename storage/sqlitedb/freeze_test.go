package sqlitedb

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// TestFreeze: writes wait while a writer is frozen, those whose callers leave are left undone, and the
// others happen afterwards.
func TestFreeze(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w, err := NewWriter(t.Context(), Options{File: File{Path: filepath.Join(dir, "a.db")}})
		if err != nil {
			t.Fatal(err)
		}
		ran := make(chan struct{}, 8)
		job := Job{Run: func(*Tx) error { ran <- struct{}{}; return nil }}
		thaw, err := w.Freeze(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		left, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := w.Submit(left, job); !errors.Is(err, context.DeadlineExceeded) || len(ran) > 0 {
			t.Errorf("%v, %d have run", err, len(ran))
		}
		waits := make(chan error)
		go func() { waits <- w.Submit(t.Context(), job) }()
		synctest.Wait()
		thaw()
		thaw()
		if err := <-waits; err != nil || len(ran) != 1 {
			t.Errorf("%v, %d have run", err, len(ran))
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if _, err := w.Freeze(t.Context()); err == nil {
			t.Error("a writer that is closed is frozen")
		}
	})
}
