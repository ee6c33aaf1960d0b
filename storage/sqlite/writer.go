package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/fault"
	sqlite3 "modernc.org/sqlite/lib"
)

// One transaction takes what is queued up to these limits, the last job included.
const (
	batchJobs  = 256
	batchBytes = 64 << 20
)

// writer owns the connection that writes. Only the goroutine of serve uses it.
type writer struct {
	path    string
	file    os.FileInfo // what was opened at path
	log     *slog.Logger
	now     func() time.Time
	db      *sql.DB
	session *session // nil when the connection must be opened again

	commits atomic.Int64 // transactions that were committed
}

// serve is the writer's goroutine: group commit. One fsync serves all that queued up
// while the one before was under way.
func (s *Store) serve() {
	defer close(s.stopped)
	batch := make([]*job, 0, batchJobs)
	for first := range s.queue {
		batch = s.gather(batch[:0], first)
		s.writer.commit(batch)
		clear(batch) // keep no bodies
	}
}

// gather adds the first job and those queued behind it that still want to run.
func (s *Store) gather(batch []*job, first *job) []*job {
	bytes := 0
	for j := first; j != nil; j = s.next() {
		if j.begin() {
			batch, bytes = append(batch, j), bytes+j.bytes
		}
		if len(batch) == batchJobs || bytes >= batchBytes {
			break
		}
	}
	return batch
}

// next returns a queued job without waiting, or nil.
func (s *Store) next() *job {
	select {
	case j := <-s.queue: // nil once the queue is closed and empty
		return j
	default:
		return nil
	}
}

// commit runs the batch in one transaction and then answers: a refusal too, because it
// may rest on changes of the same batch. If that fails, each job runs alone, so that one
// can't fail the others.
func (w *writer) commit(batch []*job) {
	err := w.transact(batch...)
	if err == nil || len(batch) == 1 {
		for _, j := range batch {
			j.finish(storeError(err))
		}
		return
	}
	w.log.Warn("a batch of updates was rolled back; each runs alone now", "updates", len(batch), "error", err)
	for _, j := range batch {
		j.finish(storeError(w.transact(j)))
	}
}

// transact is one transaction. After an error nothing of it is recorded, except when
// SQLite failed to tell the outcome of the commit itself; then it is there whole or not.
func (w *writer) transact(jobs ...*job) error {
	if len(jobs) == 0 {
		return nil
	}
	if err := w.inPlace(); err != nil {
		return err
	}
	if err := w.reopen(); err != nil {
		return err
	}
	if err := w.session.transaction(jobs); err != nil {
		w.rollback(err)
		return err
	}
	w.commits.Add(1)
	return nil
}

// inPlace refuses to write to a file that nobody will find again: one that was removed or
// replaced while it is open. It costs a microsecond or two of a commit's hundreds.
func (w *writer) inPlace() error {
	found, err := os.Stat(w.path)
	if err == nil && os.SameFile(found, w.file) {
		return nil
	}
	return fault.Wrap(err, fault.StoreUnavailable, "the store's database file was removed or replaced while it was in use; put it back and restart")
}

// rollback brings the connection into a known state after err, or gives it up.
func (w *writer) rollback(err error) {
	// SQLITE_ERROR means that SQLite has rolled back by itself.
	undo := w.session.exec(w.session.rollback)
	if mustReopen(err) || (undo != nil && codeOf(undo) != sqlite3.SQLITE_ERROR) {
		w.log.Error("the store's connection is opened again", "error", errors.Join(err, undo))
		_ = w.disconnect() // the error that led here is the one to report
	}
}

// reopen opens the connection again after it was given up.
func (w *writer) reopen() error {
	if w.session != nil {
		return nil
	}
	// Bounded, because everybody waits for this goroutine.
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	db, err := openWriter(ctx, w.path)
	if err != nil {
		return err
	}
	if w.session, err = newSession(ctx, db, w.now); err != nil {
		return errors.Join(err, db.Close())
	}
	w.db = db
	return nil
}

func (w *writer) disconnect() error {
	var err error
	if w.session != nil {
		err = w.session.close()
	}
	w.session = nil
	return errors.Join(err, w.db.Close())
}

// close moves the WAL into the database and closes it. The readers must be gone.
func (w *writer) close() error {
	var err error
	if w.session != nil {
		_, err = w.session.conn.ExecContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)")
	}
	return errors.Join(err, w.disconnect())
}
