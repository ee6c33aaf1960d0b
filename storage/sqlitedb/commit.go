package sqlitedb

import (
	"errors"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// commit runs the batch in one transaction and answers it. If that fails, each job runs alone,
// unless none would fare better: when no job has run, or when the commit that failed is yet to
// be overwritten.
func (w *Writer) commit(batch []*job) {
	if len(batch) == 0 {
		return
	}
	if err := w.begin(); err != nil {
		w.answer(batch, err)
		return
	}
	err := w.transact(batch)
	if err == nil || len(batch) == 1 || Uncertain(err) || w.o.Shared != nil && w.o.Shared(err) {
		w.answer(batch, err)
		return
	}
	w.o.Log.Warn("a batch of jobs was rolled back; each runs alone now", "database", w.o.File.Path, "jobs", len(batch),
		"error", err)
	for i := range batch {
		if err := w.begin(); err != nil {
			w.answer(batch[i:], err)
			return
		}
		w.answer(batch[i:i+1], w.transact(batch[i:i+1]))
	}
}

// runAlone runs a job between transactions.
func (w *Writer) runAlone(j *job) {
	err := w.recover()
	if err == nil {
		err = w.undone(j.Run(w.tx))
	}
	w.answer([]*job{j}, err)
}

// begin begins a transaction. After an error nothing has begun.
func (w *Writer) begin() error {
	if err := w.recover(); err != nil {
		return err
	}
	return w.undone(w.tx.exec("BEGIN IMMEDIATE"))
}

// transact runs the jobs in the transaction that has begun, and commits.
func (w *Writer) transact(jobs []*job) error {
	began := time.Now()
	if err := w.run(jobs); err != nil {
		w.failures.Add(1)
		return w.undone(err)
	}
	if err := w.tx.exec("COMMIT"); err != nil {
		w.failures.Add(1)
		return w.failed(err)
	}
	w.commits.Add(1)
	w.took.Observe(time.Since(began).Seconds())
	w.shared.Observe(float64(len(jobs)))
	if w.o.Committed != nil {
		w.o.Committed()
	}
	return nil
}

func (w *Writer) run(jobs []*job) error {
	if w.o.Begun != nil {
		if err := w.o.Begun(w.tx); err != nil {
			return err
		}
	}
	for _, j := range jobs {
		if err := j.Run(w.tx); err != nil {
			return err
		}
	}
	if w.o.Ending != nil {
		return w.o.Ending(w.tx)
	}
	return nil
}

// failed undoes a commit that failed, and writes over what it may have left at once.
func (w *Writer) failed(err error) error {
	w.uncertain = mayBeWritten(err)
	err = w.undone(err)
	if !w.uncertain {
		return err
	}
	if failed := w.recover(); failed != nil {
		w.o.Log.Error("nothing is written until a commit that failed is overwritten", "database", w.o.File.Path, "error",
			failed)
		return uncertain{err}
	}
	return err
}

// undone returns err, after it brought the connection into a known state or gave it up.
func (w *Writer) undone(err error) error {
	if err == nil {
		return nil
	}
	if w.o.Undone != nil {
		w.o.Undone()
	}
	// SQLITE_ERROR means that SQLite has rolled back by itself.
	undo := w.tx.exec("ROLLBACK")
	if w.uncertain || MustReopen(err) || undo != nil && Code(undo) != sqlite3.SQLITE_ERROR {
		w.o.Log.Error("the connection to a database is opened again", "database", w.o.File.Path, "error",
			errors.Join(err, undo))
		_ = w.disconnect() // the error that led here is the one to report
	}
	return err
}

// uncertain marks the error of a commit that could not be overwritten yet.
type uncertain struct{ error }

func (u uncertain) Unwrap() error { return u.error }

// Uncertain reports whether err is of a commit that a crash might bring about still. The next
// job that succeeds says that it won't.
func Uncertain(err error) bool {
	_, ok := errors.AsType[uncertain](err)
	return ok
}

// mayBeWritten reports whether a COMMIT that failed may have got its frames into the WAL.
func mayBeWritten(err error) bool {
	switch Code(err) & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CONSTRAINT:
		return false
	}
	return true
}
