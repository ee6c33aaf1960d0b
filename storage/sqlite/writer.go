package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/sqlitedb"
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
	held    *sqlitedb.Held
	log     *slog.Logger
	now     func() time.Time
	db      *sql.DB
	session *session // nil when the connection must be opened again
	latest  latest

	// uncertain says that a commit failed after its record may have got into the WAL,
	// where the recovery after a crash would find it. Nothing is accepted until settle
	// has written over it.
	uncertain bool

	commits atomic.Int64 // transactions that were committed
}

// serve is the writer's goroutine: group commit. One fsync serves all that queued up
// while the one before was under way. Organizations take turns: however much one of them
// has waiting, another one's next job runs behind a single one of it.
func (s *Store) serve() {
	defer close(s.stopped)
	batch := make([]*job, 0, batchJobs)
	for first, ok := s.queue.Next(); ok; first, ok = s.queue.Next() {
		var alone *job
		batch, alone = s.gather(batch[:0], first)
		s.writer.commit(batch)
		clear(batch) // keep no bodies
		if alone != nil {
			s.writer.runAlone(alone)
		}
	}
}

// gather adds the first job and those queued behind it that still want to run, in turns, up
// to one that wants to run alone, after them.
func (s *Store) gather(batch []*job, first *job) (jobs []*job, alone *job) {
	bytes := 0
	for j, ok := first, true; ok; j, ok = s.queue.TryNext() {
		switch {
		case !j.begin():
		case j.alone:
			return batch, j
		default:
			batch, bytes = append(batch, j), bytes+j.bytes
		}
		if len(batch) == batchJobs || bytes >= batchBytes {
			break
		}
	}
	return batch, nil
}

// commit runs the batch in one transaction and then answers: a refusal too, because it
// may rest on changes of the same batch. If that fails, each job runs alone, so that one
// can't fail the others; not so when no job has run, for none would fare better alone.
func (w *writer) commit(batch []*job) {
	if len(batch) == 0 {
		return
	}
	if err := w.begin(); err != nil {
		w.answer(batch, err)
		return
	}
	err := w.transact(batch)
	if err == nil || len(batch) == 1 {
		w.answer(batch, err)
		return
	}
	w.log.Warn("a batch of updates was rolled back; each runs alone now", "updates", len(batch), "error", err)
	for i := range batch {
		if err := w.begin(); err != nil {
			w.answer(batch[i:], err)
			return
		}
		w.answer(batch[i:i+1], w.transact(batch[i:i+1]))
	}
}

// runAlone runs a job between transactions.
func (w *writer) runAlone(j *job) {
	err := w.recover()
	if err == nil {
		err = w.undone(j.run(w.session))
	}
	w.answer([]*job{j}, err)
}

func (w *writer) answer(jobs []*job, err error) {
	err = writeError(err, w.tryDisk)
	for _, j := range jobs {
		j.finish(err)
	}
}

// begin begins a transaction. After an error nothing has begun.
func (w *writer) begin() error {
	if err := w.recover(); err != nil {
		return err
	}
	return w.undone(w.session.exec(w.session.begin))
}

// recover makes up for what went wrong before: it opens a connection that was given up,
// and settles a commit that failed.
func (w *writer) recover() error {
	if err := w.inPlace(); err != nil {
		return err
	}
	if err := w.reopen(); err != nil {
		return err
	}
	return w.settle()
}

// transact runs the jobs and commits. After an error nothing of it is recorded, except
// when SQLite failed to tell the outcome of the commit itself; then it is there whole or
// not.
func (w *writer) transact(jobs []*job) error {
	w.session.recorded = w.session.recorded[:0]
	if err := w.session.look(); err != nil {
		return w.undone(err)
	}
	for _, j := range jobs {
		if err := j.run(w.session); err != nil {
			return w.undone(err)
		}
	}
	err := w.session.exec(w.session.commit)
	if err == nil {
		w.commits.Add(1)
		w.latest.add(w.session.recorded)
		return nil
	}
	w.uncertain = sqlitedb.MustReopen(err)
	err = w.undone(err)
	if !w.uncertain {
		return err
	}
	if failed := w.recover(); failed != nil {
		w.log.Error("no update is accepted until a commit that failed is overwritten", "error", failed)
	}
	return err
}

// settle writes over what a failed commit may have left at the end of the WAL, if one
// did. A frame's checksum covers all the frames before it: whatever of the failed
// transaction lies beyond this one is void. Until then the readers keep the WAL's index,
// in which that transaction isn't, and with it SQLite from a recovery.
func (w *writer) settle() error {
	if !w.uncertain {
		return nil
	}
	err := w.session.exec(w.session.begin)
	if err == nil {
		err = w.session.writeProbe()
	}
	if err == nil {
		err = w.session.exec(w.session.commit)
	}
	w.uncertain = err != nil
	return w.undone(err)
}

// inPlace refuses to write to a file that nobody will find again: one that was removed or
// replaced while it is open. It costs a microsecond or two of a commit's hundreds.
func (w *writer) inPlace() error {
	err := w.held.InPlace()
	if err == nil {
		return nil
	}
	return fault.Wrap(err, fault.StoreUnavailable, "the store's database file was removed or replaced while it was in use; put it back and restart")
}

// undone returns err, after it brought the connection into a known state or gave it up.
func (w *writer) undone(err error) error {
	if err == nil {
		return nil
	}
	w.session.newest = 0
	w.session.heads.forgetAll()
	w.latest.forget()
	// SQLITE_ERROR means that SQLite has rolled back by itself.
	undo := w.session.exec(w.session.rollback)
	if sqlitedb.MustReopen(err) || (undo != nil && sqlitedb.Code(undo) != sqlite3.SQLITE_ERROR) {
		w.log.Error("the store's connection is opened again", "error", errors.Join(err, undo))
		_ = w.disconnect() // the error that led here is the one to report
	}
	return err
}

// reopen opens the connection again after it was given up.
func (w *writer) reopen() error {
	if w.session != nil {
		return nil
	}
	// Bounded, because everybody waits for this goroutine.
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	db, err := databaseFile(w.path).OpenWriter(ctx)
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
	var errs []error
	if w.session != nil {
		_, err := w.session.conn.ExecContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)")
		errs = append(errs, err)
	}
	return errors.Join(append(errs, w.disconnect())...)
}
