package sqlite

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// holdFile begins a write from another connection, as an operator's sqlite3 would.
func holdFile(t *testing.T, path string) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := db.ExecContext(context.Background(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestBusy has another process hold the database: a batch waits for it once, not once for
// each update, and no decision is asked on a head that may change.
func TestBusy(t *testing.T) {
	const updates, timeout = 50, 200 * time.Millisecond
	s, _ := opened(t)
	setPragma(t, s, "busy_timeout = 200")
	var asked atomic.Int64
	nothing := func(state.Head) (state.Change, error) {
		asked.Add(1)
		return state.Change{}, nil
	}
	release := holdFile(t, s.path)
	began := time.Now()
	var wg sync.WaitGroup
	for range updates {
		wg.Go(func() {
			_, err := s.Update(context.Background(), newRef("busy"), nil, nothing)
			if !fault.Is(err, fault.StoreUnavailable) {
				t.Errorf("error %v, want one with %s", err, fault.StoreUnavailable)
			}
		})
	}
	wg.Wait()
	if took := time.Since(began); took > updates/4*timeout {
		t.Errorf("%d updates were answered after %v; the timeout is %v", updates, took, timeout)
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("%d decisions were asked", n)
	}
	release()
	mustPut(t, s, newRef("busy"), []byte("{}"))
}
