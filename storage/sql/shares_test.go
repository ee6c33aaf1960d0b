package sqluploads

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// lockTable keeps everybody else from reading and writing an organization's records until
// the returned function is called.
func lockTable(t *testing.T, d database, on testServer, org uuid.UUID) (db *sql.DB, unlock func()) {
	t.Helper()
	lock, end := []string{"LOCK TABLES " + tableOf(org) + " WRITE"}, "UNLOCK TABLES"
	if on.speaks.isPostgres() {
		lock, end = []string{"BEGIN", "LOCK TABLE " + tableOf(org) + " IN ACCESS EXCLUSIVE MODE"}, "ROLLBACK"
	}
	db = d.pool(t)
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range lock {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return db, func() {
		if _, err := conn.ExecContext(t.Context(), end); err != nil {
			t.Error(err)
		}
	}
}

// waitBlocked waits until so many sessions, or more, wait for a lock.
func waitBlocked(t *testing.T, db *sql.DB, on testServer, n int) {
	t.Helper()
	query := "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND " +
		"state LIKE 'Waiting for table%'"
	if on.speaks.isPostgres() {
		query = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
	}
	for range 2000 {
		var blocked int
		if err := db.QueryRowContext(t.Context(), query).Scan(&blocked); err != nil {
			t.Fatal(err)
		}
		if blocked >= n {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("no %d sessions wait for a lock", n)
}

// TestPoolIsShared has one organization's calls take all the connections that they get, for
// as long as they like: another one's calls of every kind are answered meanwhile.
func TestPoolIsShared(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		d := on.fresh(t)
		o := d.Options
		store, greedy, other := open(t, o), uuid.New(), uuid.New()
		appendTo(t, store, batchOf(greedy, 1))
		db, unlock := lockTable(t, d, on, greedy)
		var wg sync.WaitGroup
		for range 3 * testConnections {
			wg.Go(func() {
				if n := len(readAll(t, store, greedy, inventory.Query{})); n == 0 {
					t.Error("no records, want the one that is there")
				}
			})
		}
		wg.Go(func() { appendTo(t, store, batchOf(greedy, 1)) })
		waitBlocked(t, db, on, (testConnections-ownConnections)/2)

		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := useAll(ctx, store, other); err != nil {
			t.Errorf("another organization, while one waits with all it has: %v", err)
		}
		if err := store.Status(ctx); err != nil {
			t.Errorf("status: %v", err)
		}
		unlock()
		wg.Wait()
	})
}

// useAll makes every kind of call for an organization.
func useAll(ctx context.Context, store inventory.Store, org uuid.UUID) error {
	batch := batchOf(org, 2)
	_, appended := store.Append(ctx, batch)
	_, _, recorded := store.Recorded(ctx, org, batch.ID)
	_, summed := store.Summary(ctx, org)
	_, used := store.Usage(ctx, org)
	err := errors.Join(appended, recorded, summed, used)
	for _, failed := range store.Records(ctx, org, inventory.Query{}) {
		err = errors.Join(err, failed)
	}
	return err
}

// TestOneConnection makes every kind of call with a pool of one connection, one within
// another: none has the connection while its caller looks at a record.
func TestOneConnection(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		o := on.fresh(t).limited(1)
		store, org := open(t, o), uuid.New()
		appendTo(t, store, batchOf(org, 1))
		for _, err := range store.Records(t.Context(), org, inventory.Query{}) {
			if err := errors.Join(err, useAll(t.Context(), store, org), store.Status(t.Context())); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestLeaveBeforeTurn ends the context of an upload that waits for its organization's turn.
func TestLeaveBeforeTurn(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		o := on.fresh(t).limited(2)
		store, org := open(t, o), uuid.New()
		release, err := store.turns.Acquire(t.Context(), uuid.New())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		left, stays := make(chan error), make(chan error)
		go func() {
			_, err := store.Append(ctx, batchOf(org, 1))
			left <- err
		}()
		batch := batchOf(org, 1)
		go func() {
			_, err := store.Append(t.Context(), batch)
			stays <- err
		}()
		waitWaiting(t, store, org, 2)
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
		release()
		if err := <-stays; err != nil {
			t.Error(err)
		}
		wantOnce(t, store, org, map[string]int{batch.ID: 1})
	})
}

// waitWaiting waits until so many entries are in the organization's line.
func waitWaiting(t *testing.T, store *Store, org uuid.UUID, n int) {
	t.Helper()
	for range 2000 {
		store.queues.mu.Lock()
		l := store.queues.lines[org]
		there := l != nil && len(l.waiting) == n
		store.queues.mu.Unlock()
		if there {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("no %d entries wait", n)
}

// TestNoTurn lets an upload wait for a turn that never comes: it is told to come back, and
// the organization's queue is served again afterwards.
func TestNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, org := &Store{turns: newTurns(2), ctx: t.Context()}, uuid.New()
		if _, err := store.turns.Acquire(t.Context(), uuid.New()); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			e := newEntry(t, batchOf(org, 1))
			store.join(nil, e)
			store.await(e)
			if !fault.Is(e.err, fault.Overloaded) || e.receipt.Count != 0 {
				t.Errorf("receipt %+v, error %v, want %s", e.receipt, e.err, fault.Overloaded)
			}
			synctest.Wait()
			if len(store.queues.lines) != 0 {
				t.Error("the organization's queue is there still")
			}
		}
	})
}
