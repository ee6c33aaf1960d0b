package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/holdfast/holdfast/internal/fair"
	"github.com/holdfast/holdfast/internal/vitals"
)

// Writer is the one way to write to a database file durably. Every store over SQLite sits on
// one, and this is what it may rely on:
//
//   - Durable. When Submit returns nil, what the job wrote is on disk: it is there after a crash
//     of the process or of the machine.
//   - Shared. One goroutine runs all jobs. Those that wait while a transaction is under way
//     share the next one, and with it an fsync. Organizations take turns: however many jobs one
//     of them has waiting, another one's next job runs behind a single one of it. Within an
//     organization they run in the order in which they were submitted.
//   - Answered late. No job is answered before its transaction has ended, so that a refusal,
//     which may rest on what another job of the same transaction wrote, is as durable as that.
//   - Alone when it fails. If a transaction fails, each of its jobs runs once more in one of its
//     own, so that no job fails for another one's fault. A job has to start from scratch then,
//     and its effects on memory have to wait until Submit returns.
//   - Undone whole. After an error nothing of the job is recorded, now or after a crash. When
//     the fsync of a commit fails, its frames may be in the WAL all the same: SQLite doesn't
//     count them, but a recovery would. So the Writer writes over them before it writes anything
//     else, and keeps a reading connection open all the time: with it the WAL's index stays,
//     which knows nothing of those frames, and there is no recovery before they are gone. Only
//     if they can't be overwritten yet, the error is Uncertain: should the process die before
//     that succeeds, the job may turn out to have happened, whole.
//   - In place. Nothing is written to a file that was removed or replaced while it is open, as
//     nobody would find it again. All is well when it is back.
//   - Mended by itself. After trouble with the files, nothing that the connection keeps in
//     memory is believed: it is opened again for the next job.
//   - Left in time. A job whose context ends before it begins is not run. What has begun is
//     finished, whatever its context says.
//   - Drained. Close runs every job that was submitted before it, and refuses those after it.
type Writer struct {
	o        Options
	held     *Held
	inbox    *fair.Inbox[*job]
	stopped  chan struct{} // closed after the last job
	once     sync.Once     // for Close, which returns closed
	closed   error
	commits  atomic.Int64
	took     *vitals.Histogram // seconds that a transaction took
	shared   *vitals.Histogram // jobs that had one
	failures atomic.Uint64     // transactions that were undone

	keeper, db *sql.DB
	tx         *Tx // nil when the connection must be opened again

	// uncertain says that a commit failed whose frames may be in the WAL.
	uncertain bool
}

// Options are what NewWriter needs to know. The functions may be nil; the Writer calls all
// of them one at a time.
type Options struct {
	File File
	// Migrate brings a database that was just opened up to date.
	Migrate func(context.Context, *sql.DB, *slog.Logger) error
	Log     *slog.Logger
	// Jobs and Bytes are how much one transaction takes, the last job included; 0 for 256 jobs
	// and any number of bytes.
	Jobs, Bytes int

	// Connected is called with each connection before it is used: at first, and whenever it was
	// opened again.
	Connected func(*Tx) error
	// Begun runs first in each transaction, and fails it with an error.
	Begun func(*Tx) error
	// Ending runs last in each transaction, behind its jobs, and fails it with an error: for what
	// is written once for all of them.
	Ending func(*Tx) error
	// Committed is called after each commit, before its jobs are answered.
	Committed func()
	// Undone is called whenever something was undone, or may have been.
	Undone func()
	// InPlace is told before each transaction what Held.InPlace says, and returns whether to go
	// on. The connection is nil when there is none. Without it an error of Held.InPlace becomes
	// ErrNotInPlace.
	InPlace func(*Tx, error) error
	// Shared says of an error that every other transaction would have met it too, so that there
	// is no use in running each job alone. Without it all of them try.
	Shared func(error) bool
	// Explain puts an error into the words of the store, once for all the jobs that failed of it.
	Explain func(error) error
}

const defaultJobs = 256

// ErrNotInPlace says that the database's file was removed or replaced while it is open.
var ErrNotInPlace = errors.New("the database file was removed or replaced while it was in use; put it back and restart")

// ErrClosed says that a job came after Close. It is Closed trouble.
var ErrClosed = fmt.Errorf("the writer is closed: %w", sql.ErrConnDone)

// NewWriter opens a database file, which has to have a directory of its process's own, makes it
// if it is missing, and holds it until Close. It leaves a file alone that another process holds,
// one of something else, and one that is missing beside its WAL.
func NewWriter(ctx context.Context, o Options) (*Writer, error) {
	if o.Jobs == 0 {
		o.Jobs = defaultJobs
	}
	w := &Writer{o: o, inbox: fair.NewInbox[*job](), stopped: make(chan struct{}), took: newTook(), shared: newShared()}
	if err := w.open(ctx); err != nil {
		return nil, errors.Join(err, w.release())
	}
	go w.serve()
	return w, nil
}

func (w *Writer) open(ctx context.Context) (err error) {
	file := w.o.File
	if err := file.CheckWAL(); err != nil {
		return err
	}
	if w.held, err = file.Hold(); err != nil {
		return err
	}
	if w.db, err = file.OpenWriter(ctx); err != nil {
		return fmt.Errorf("open %s: %w", file.Path, err)
	}
	if w.o.Migrate != nil {
		if err := w.o.Migrate(ctx, w.db, w.o.Log); err != nil {
			return fmt.Errorf("open %s: %w", file.Path, err)
		}
	}
	if err := w.use(ctx, w.db); err != nil {
		return err
	}
	if w.keeper, err = file.OpenReader(); err != nil {
		return err
	}
	// A connection opens the WAL when it reads for the first time.
	var tables int
	return w.keeper.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables)
}

// Close runs what is waiting and leaves the database in one file, without a WAL: unless the
// file is not in its place, when nothing is changed any more. Connections for reading must be
// closed before it.
func (w *Writer) Close() error {
	w.once.Do(func() {
		w.inbox.Close()
		<-w.stopped
		w.closed = w.release()
	})
	return w.closed
}

// release gives back what open took, as far as it came.
func (w *Writer) release() error {
	var errs []error
	if w.uncertain {
		// While there is a reader: to open a database that nobody has open recovers the WAL.
		errs = append(errs, w.recover())
	}
	if w.keeper != nil {
		errs = append(errs, w.keeper.Close())
	}
	if w.tx != nil && w.InPlace() == nil {
		_, err := w.tx.conn.ExecContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)")
		errs = append(errs, err)
	}
	errs = append(errs, w.disconnect())
	if w.held != nil {
		errs = append(errs, w.held.Close()) // behind all connections
	}
	return errors.Join(errs...)
}

// InPlace returns nil if the database's file is where it was opened, as Held.InPlace does.
func (w *Writer) InPlace() error { return w.held.InPlace() }

// Waiting returns how many jobs wait for their turn.
func (w *Writer) Waiting() int { return w.inbox.Len() }

// Commits returns how many transactions with jobs were committed.
func (w *Writer) Commits() int64 { return w.commits.Load() }
