package sqlite

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// A purge destroys rows. What SQLite has left of them elsewhere, in the gaps of pages and in
// the WAL, a sweep overwrites. That a sweep is owed is part of the purge's transaction, so
// that neither a crash nor an answer that said no makes anybody forget it.
const (
	sqlOweSweep  = `UPDATE sweeps SET owed = owed + 1 WHERE id = 1`
	sqlOwesSweep = `SELECT owed > done FROM sweeps WHERE id = 1`
	sqlOwedSweep = `SELECT owed, done FROM sweeps WHERE id = 1`
	sqlDidSweep  = `UPDATE sweeps SET done = max(done, ?) WHERE id = 1`
)

// sweeper lets those who wait for a sweep share one: the next that begins.
type sweeper struct {
	ctx     context.Context // of all sweeps: it ends when the store closes
	stop    context.CancelFunc
	running sync.WaitGroup

	mu        sync.Mutex
	now, next *sweep
	begun     int // sweeps that had something to do
}

// sweep is one on its way. err is set when done is closed.
type sweep struct {
	done chan struct{}
	err  error
}

func newSweeper() *sweeper {
	ctx, stop := context.WithCancel(context.Background())
	return &sweeper{ctx: ctx, stop: stop}
}

// join returns a sweep that begins after the call, and begins it if it can.
func (w *sweeper) join(run func(context.Context) error) *sweep {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.now == nil:
		w.now = &sweep{done: make(chan struct{})}
		w.running.Go(func() { w.run(run) })
		return w.now
	case w.next == nil:
		w.next = &sweep{done: make(chan struct{})}
	}
	return w.next
}

// run sweeps as long as somebody waits for another one.
func (w *sweeper) run(run func(context.Context) error) {
	for {
		w.now.err = run(w.ctx)
		close(w.now.done)
		w.mu.Lock()
		w.now, w.next = w.next, nil
		last := w.now == nil
		w.mu.Unlock()
		if last {
			return
		}
	}
}

// close ends the sweep under way.
func (w *sweeper) close() {
	w.stop()
	w.running.Wait()
}

// swept returns when what was purged before the call is in no file any more.
func (s *Store) swept(ctx context.Context) error {
	w := s.sweeper.join(s.sweep)
	select {
	case <-w.done:
		if w.err != nil && s.sweeper.ctx.Err() != nil { // the store closes
			return errNotSwept(w.err)
		}
		return w.err
	case <-ctx.Done():
		return errNotSwept(ctx.Err())
	}
}

func errNotSwept(err error) error {
	return fault.Wrap(err, fault.StoreUnavailable,
		"the bytes are deleted, but the store's files could not be cleared of them yet; ask again")
}

// resumeSweep begins the sweep that an earlier process owes.
func (s *Store) resumeSweep(ctx context.Context) error {
	owed, err := s.owedSweep(ctx)
	if err == nil && owed > 0 {
		s.log.Info("overwriting what a purge that was interrupted has left")
		s.sweeper.join(s.sweep)
	}
	return err
}

// sweep does what is owed when it begins, which may be nothing.
func (s *Store) sweep(ctx context.Context) error {
	owed, err := s.owedSweep(ctx)
	if err != nil || owed == 0 {
		return err
	}
	s.sweeper.mu.Lock()
	s.sweeper.begun++
	s.sweeper.mu.Unlock()
	if err := s.clearGaps(ctx); err != nil {
		return err
	}
	if err := s.emptyLog(ctx); err != nil {
		return err
	}
	return s.transact(ctx, server(), func(t *session) error { return t.run(sqlDidSweep, owed) })
}

// owedSweep returns the number of the last purge that is not swept, 0 when all are.
func (s *Store) owedSweep(ctx context.Context) (owed int64, err error) {
	err = s.borrow(ctx, func(r *reader) error {
		var done int64
		err := r.conn.QueryRowContext(ctx, sqlOwedSweep).Scan(&owed, &done)
		if owed == done {
			owed = 0
		}
		return err
	})
	return owed, err
}

// clearGaps overwrites the copies of deleted rows. A reader looks for them, one that no list
// keeps waiting; only what it has found takes the writer's time.
func (s *Store) clearGaps(ctx context.Context) error {
	read := func(piece func(context.Context, sqlitedb.Querier) error) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return s.borrow(ctx, func(r *reader) error { return piece(context.Background(), r.conn) })
	}
	write := func(piece func(context.Context, sqlitedb.Querier) error) error {
		return sqlitedb.Paced(ctx, func() error {
			return s.transact(ctx, server(), func(t *session) error { return piece(context.Background(), t.conn) })
		})
	}
	return sqlitedb.ClearGaps(read, write)
}

// emptyPatience is how long emptyLog waits for readers.
const emptyPatience = 10 * time.Second

// emptyLog moves the WAL into the database and cuts it to nothing.
func (s *Store) emptyLog(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, emptyPatience)
	defer cancel()
	err := s.writer.EmptyLog(ctx, server())
	if err != nil && ctx.Err() != nil {
		return errNotSwept(ctx.Err())
	}
	return err
}
