package dual

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/holdfast/holdfast/storage/folder"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

const (
	databaseName = "outbox.db"
	lockName     = "outbox.lock"

	// One transaction takes what is queued, up to this many jobs.
	commitJobs = 256
	// Settled rows are removed with the next transaction, but no later than this, and not
	// more of them than this.
	settleWithin = time.Second
	settleMost   = 256
)

// outbox keeps batches until both sides have them, in an SQLite database in WAL mode with
// full sync. One goroutine writes: one fsync serves all that queued up during the last.
//
// That a side has a batch is noted without hurry. After a crash the batch is sent again,
// and the side knows its ID.
type outbox struct {
	lock    *flock.Flock
	held    *sqlitedb.Held
	writer  *sqlitedb.Writer // the goroutine of serve's alone
	readers *sql.DB
	codec   *codec
	log     *slog.Logger

	jobs    chan *job
	hurry   chan struct{} // too many settled rows
	stopped chan struct{}

	mu      sync.Mutex
	settled map[int64]names // not yet in the database
}

// job is a piece of work within a transaction. It may be run twice, if the first
// transaction came to nothing.
type job struct {
	run  func(tx) error
	done chan error
}

// readConnections is how many rows are looked up or loaded at once.
const readConnections = 4

func openOutbox(ctx context.Context, dir string, log *slog.Logger) (*outbox, error) {
	o := &outbox{
		log: log, jobs: make(chan *job, commitJobs), hurry: make(chan struct{}, 1),
		stopped: make(chan struct{}), settled: map[int64]names{},
	}
	if err := o.open(ctx, dir); err != nil {
		return nil, errors.Join(err, o.release())
	}
	go o.serve()
	return o, nil
}

func (o *outbox) open(ctx context.Context, dir string) (err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if err := folder.Make(dir); err != nil {
		return err
	}
	if o.lock, err = folder.Take(dir, lockName); err != nil {
		return err
	}
	file := databaseFile(filepath.Join(dir, databaseName))
	if o.held, err = file.Hold(); err != nil {
		return err
	}
	if o.codec, err = newCodec(); err != nil {
		return err
	}
	db, err := file.OpenWriter(ctx)
	if err != nil {
		return err
	}
	if err := migrate(ctx, db, o.log); err != nil {
		return errors.Join(err, db.Close())
	}
	if o.writer, err = sqlitedb.NewWriter(ctx, file, o.held, db, o.log); err != nil {
		return err
	}
	if o.readers, err = file.OpenReader(); err != nil {
		return err
	}
	o.readers.SetMaxOpenConns(readConnections)
	o.readers.SetMaxIdleConns(readConnections)
	return nil
}

// close commits what is waiting. Nobody may call the outbox any more.
func (o *outbox) close() error {
	close(o.jobs)
	<-o.stopped
	return o.release()
}

// release gives back what openOutbox took, as far as it came.
func (o *outbox) release() error {
	var errs []error
	if o.readers != nil {
		errs = append(errs, o.readers.Close())
	}
	if o.writer != nil {
		errs = append(errs, o.writer.Close())
	}
	if o.codec != nil {
		o.codec.close()
	}
	if o.held != nil {
		errs = append(errs, o.held.Close()) // behind all connections
	}
	if o.lock != nil {
		errs = append(errs, o.lock.Close())
	}
	return errors.Join(errs...)
}

// do has the work done and returns when it is durable.
func (o *outbox) do(run func(tx) error) error {
	j := &job{run: run, done: make(chan error, 1)}
	o.jobs <- j
	return <-j.done
}

// settle notes that sides have the batch.
func (o *outbox) settle(seq int64, have names) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.settled[seq] |= have
	if len(o.settled) >= settleMost {
		select {
		case o.hurry <- struct{}{}:
		default: // on its way
		}
	}
}

// without returns what is left of a row's debts.
func (o *outbox) without(seq int64, owes names) names {
	o.mu.Lock()
	defer o.mu.Unlock()
	return owes.without(o.settled[seq])
}

// serve is the writer's goroutine.
func (o *outbox) serve() {
	defer close(o.stopped)
	tick := time.NewTicker(settleWithin)
	defer tick.Stop()
	for {
		select {
		case first, ok := <-o.jobs:
			if !ok {
				o.commit(nil)
				return
			}
			o.commit(o.gather(first))
		case <-o.hurry:
			o.commit(nil)
		case <-tick.C:
			o.commit(nil)
		}
	}
}

// gather adds to the first job those queued behind it.
func (o *outbox) gather(first *job) []*job {
	batch := []*job{first}
	for len(batch) < commitJobs {
		select {
		case j, ok := <-o.jobs:
			if !ok {
				return batch
			}
			batch = append(batch, j)
		default:
			return batch
		}
	}
	return batch
}
