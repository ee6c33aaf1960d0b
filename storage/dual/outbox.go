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
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/folder"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

const (
	databaseName = "outbox.db"
	lockName     = "outbox.lock"

	// Settled rows are removed with the next transaction, but no later than this, and not
	// more of them than this.
	settleWithin = time.Second
	settleMost   = 256
)

// outbox keeps batches until both sides have them, in an SQLite database in WAL mode with
// full sync, behind one writer.
//
// That a side has a batch is noted without hurry. After a crash the batch is sent again,
// and the side knows its ID.
type outbox struct {
	lock    *flock.Flock
	writer  *sqlitedb.Writer
	readers *sql.DB
	codec   *codec
	log     *slog.Logger
	dirt    sqlitedb.Dirt // what shred has deleted

	hurry   chan struct{} // too many settled rows
	stop    chan struct{} // closed for tidy to end, which closes stopped
	stopped chan struct{}

	writing map[int64]names // settled rows that the writer's transaction notes

	mu      sync.Mutex
	settled map[int64]names // not yet in the database
}

// readConnections is how many rows are looked up or loaded at once.
const readConnections = 4

func openOutbox(ctx context.Context, dir string, log *slog.Logger) (*outbox, error) {
	o := &outbox{
		log: log, hurry: make(chan struct{}, 1), stop: make(chan struct{}),
		stopped: make(chan struct{}), settled: map[int64]names{},
	}
	if err := o.open(ctx, dir); err != nil {
		return nil, errors.Join(err, o.release())
	}
	go o.tidy()
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
	if o.codec, err = newCodec(); err != nil {
		return err
	}
	file := databaseFile(filepath.Join(dir, databaseName))
	o.writer, err = sqlitedb.NewWriter(ctx, sqlitedb.Options{
		File: file, Migrate: migrate, Log: o.log, Begun: o.noteSettled, Committed: o.forgetNoted, Explain: storeError,
	})
	if err != nil {
		return err
	}
	if o.readers, err = file.OpenReader(); err != nil {
		return err
	}
	o.readers.SetMaxOpenConns(readConnections)
	o.readers.SetMaxIdleConns(readConnections)
	return nil
}

// close notes what is settled. Nobody may call the outbox any more.
func (o *outbox) close() error {
	close(o.stop)
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
	if o.lock != nil {
		errs = append(errs, o.lock.Close())
	}
	return errors.Join(errs...)
}

// do has the work done in a transaction, in the organization's turn, and returns when it is
// durable.
func (o *outbox) do(org uuid.UUID, run func(tx) error) error {
	return o.writer.Submit(context.Background(),
		sqlitedb.Job{Org: org, Run: func(t *sqlitedb.Tx) error { return run(tx{t}) }})
}
