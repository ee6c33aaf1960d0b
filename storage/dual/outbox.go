package dual

import (
	"bytes"
	"context"
	"database/sql"
	"embed"
	"encoding/gob"
	"errors"
	"log/slog"
	"maps"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"
	"github.com/pressly/goose/v3"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/folder"
	"github.com/holdfast/holdfast/storage/schema"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

const (
	databaseName = "outbox.db"
	lockName     = "outbox.lock"

	// Settled rows are removed with the next transaction, but no later than this, and not more of them than this.
	settleWithin = time.Second
	settleMost   = 256

	readConnections = 4 // how many rows are looked up or loaded at once
)

//go:embed migrations/*.sql
var migrations embed.FS

// outbox keeps batches until both sides have them, in an SQLite database in WAL mode with full sync, behind one writer.
//
// That a side has a batch is noted without hurry. After a crash the batch is sent again, and the side knows its ID.
type outbox struct {
	lock    *flock.Flock
	writer  *sqlitedb.Writer
	readers *sql.DB
	codec   *codec
	log     *slog.Logger

	hurry   chan struct{} // too many settled rows
	stop    chan struct{} // closed for tidy to end, which closes stopped
	stopped chan struct{}

	writing map[int64]settled // rows that the writer's transaction notes

	mu      sync.Mutex
	settled map[int64]settled // not yet in the database
}

// settled are the sides that a batch is not owed to any more, and those of them that have it.
type settled struct{ paid, taken names }

func openOutbox(ctx context.Context, dir string, log *slog.Logger) (*outbox, error) {
	o := &outbox{log: log, hurry: make(chan struct{}, 1), stop: make(chan struct{}), stopped: make(chan struct{}),
		settled: map[int64]settled{}}
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

// databaseFile describes the outbox at path; a test reads the pragmas back.
func databaseFile(path string) sqlitedb.File {
	return sqlitedb.File{Path: path, ApplicationID: 0x486f6c6f, Shrinks: true, Pragmas: []string{ // "Holo"
		"auto_vacuum(FULL)", // a backlog that was taken gives its space back
		"secure_delete(1)",  // resources may hold secrets
		"journal_size_limit(33554432)",
	}}
}

// migrate brings the schema up to date.
func migrate(ctx context.Context, db *sql.DB, log *slog.Logger) error {
	s := schema.Schema{Steps: migrations, Dialect: goose.DialectSQLite3, Of: "outbox"}
	return s.Migrate(ctx, db, log)
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

// tx is the writer's transaction.
type tx struct{ *sqlitedb.Tx }

// do has the work done in a transaction, in the organization's turn, and returns when it is durable.
func (o *outbox) do(org uuid.UUID, run func(tx) error) error {
	return o.writer.Submit(context.Background(),
		sqlitedb.Job{Org: org, Run: func(t *sqlitedb.Tx) error { return run(tx{t}) }})
}

const (
	rowColumns = `SELECT seq, org, id, digest, request, at, count, owes, taken, length(body), `
	sqlAll     = rowColumns + `x'' FROM batches ORDER BY seq` // without the bodies: there may be a lot of them
	sqlFind    = rowColumns + `x'' FROM batches WHERE org = ? AND id = ?`
	sqlLoad    = rowColumns + `body FROM batches WHERE seq = ?`

	sqlPut = `INSERT INTO batches (org, id, digest, request, at, count, owes, taken, body)
		VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?)`
	sqlReplace = `DELETE FROM batches WHERE org = ? AND id = ? AND digest = ?`
	sqlSettle  = `UPDATE batches SET owes = owes & ~?, taken = taken | ? WHERE seq = ?`
	sqlRemove  = `DELETE FROM batches WHERE seq = ?`
	sqlClean   = `DELETE FROM batches WHERE seq = ? AND owes = 0`
	sqlShred   = `DELETE FROM batches WHERE seq IN (SELECT seq FROM batches WHERE org = ? LIMIT ?)`

	rowOverhead = 256 // about what a row takes beside its body
)

// row is a batch in the outbox.
type row struct {
	seq     int64
	org     uuid.UUID
	id      string
	digest  [32]byte
	request string
	at      time.Time
	count   int
	owes    names // the sides that are still to be sent it
	taken   names // the sides that surely have it; while there is none, nobody was told that it is recorded
	size    int64
	body    []byte
}

func newRow(c *codec, batch inventory.Batch) (row, error) {
	body, err := c.pack(batch.Resources)
	if err != nil {
		return row{}, err
	}
	return row{org: batch.Org, id: batch.ID, digest: batch.Digest, request: batch.Request, at: batch.At,
		count: len(batch.Resources), owes: both, size: int64(len(body)) + rowOverhead, body: body}, nil
}

// batch is what the row was made from.
func (r row) batch(c *codec) (inventory.Batch, error) {
	resources, err := c.unpack(r.body)
	return inventory.Batch{ID: r.id, Digest: r.digest, Org: r.org, Request: r.request, At: r.at, Resources: resources}, err
}

func (r row) remembered() inventory.Remembered {
	return inventory.Remembered{
		Receipt: inventory.Receipt{Request: r.request, At: r.at, Count: r.count, Replayed: true},
		Digest:  r.digest,
	}
}

// put makes rows of one organization durable, owed to both sides, and sets their numbers.
//
// A row of the same batch may be there, owed to nobody: it is about to be removed, or a commit that failed has happened
// after all. The new row takes its place, at the end of the order.
func (o *outbox) put(rows ...row) error {
	return o.do(rows[0].org, func(t tx) error {
		for i := range rows {
			if err := t.put(&rows[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t tx) put(r *row) error {
	err := t.insert(r)
	if !sqlitedb.IsDuplicate(err) {
		return err
	}
	replaced, err := t.Exec(sqlReplace, r.org.String(), r.id, r.digest[:])
	if err != nil {
		return err
	}
	if n, err := replaced.RowsAffected(); err != nil || n == 0 {
		return errors.Join(fault.New(fault.IdempotencyMismatch, "the ID %q came with other contents before", r.id), err)
	}
	return t.insert(r)
}

func (t tx) insert(r *row) error {
	result, err := t.Exec(sqlPut, r.org.String(), r.id, r.digest[:], r.request, r.at.UnixMicro(), r.count, int64(r.owes),
		r.body)
	if err != nil {
		return err
	}
	r.seq, err = result.LastInsertId()
	return err
}

// drop removes a row for good.
func (o *outbox) drop(r row) error {
	return o.do(r.org, func(t tx) error {
		_, err := t.Exec(sqlRemove, r.seq)
		return err
	})
}

// find returns the row of a batch that is still owed to a side, without its body.
func (o *outbox) find(ctx context.Context, org uuid.UUID, id string) (row, bool, error) {
	scan := o.scanning()
	r, err := scan(o.readers.QueryRowContext(ctx, sqlFind, org.String(), id))
	if errors.Is(err, sql.ErrNoRows) {
		return row{}, false, nil
	}
	return r, r.owes != 0, storeError(err)
}

// load returns a row with its body. One that is gone is owed to nobody.
func (o *outbox) load(ctx context.Context, seq int64) (row, error) {
	scan := o.scanning()
	r, err := scan(o.readers.QueryRowContext(ctx, sqlLoad, seq))
	if errors.Is(err, sql.ErrNoRows) {
		return row{}, nil
	}
	return r, storeError(err)
}

// all returns every row in order, without the bodies.
func (o *outbox) all(ctx context.Context) (rows []row, err error) {
	scan := o.scanning()
	found, err := o.readers.QueryContext(ctx, sqlAll)
	if err != nil {
		return nil, storeError(err)
	}
	defer func() { _ = found.Close() }()
	for found.Next() {
		r, err := scan(found)
		if err != nil {
			return nil, storeError(err)
		}
		rows = append(rows, r)
	}
	return rows, storeError(found.Err())
}

// scanner is a row of an answer.
type scanner interface{ Scan(...any) error }

// scanning returns what reads the rows of a query that is to be made next. What was settled by now counts, also if it
// is written, and forgotten, while the query still sees the row as it was.
func (o *outbox) scanning() func(scanner) (row, error) {
	before := o.takeStock()
	return func(from scanner) (row, error) {
		r, err := scan(from)
		now := o.takeStock()
		for _, s := range []settled{before[r.seq], now[r.seq]} {
			r.owes, r.taken = r.owes.without(s.paid), r.taken|s.taken
		}
		return r, err
	}
}

func scan(from scanner) (row, error) {
	var r row
	var org string
	var digest []byte
	var at, owes, taken int64
	if err := from.Scan(&r.seq, &org, &r.id, &digest, &r.request, &at, &r.count, &owes, &taken, &r.size,
		&r.body); err != nil {
		return row{}, err
	}
	var err error
	r.org, err = uuid.Parse(org)
	copy(r.digest[:], digest)
	r.at = time.UnixMicro(at).UTC()
	r.owes, r.taken = names(owes), names(taken)
	r.size += rowOverhead
	return r, err
}

// settle notes that a batch is not owed to sides any more, and which of them have it.
func (o *outbox) settle(seq int64, paid, taken names) {
	if paid == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.settled[seq]
	o.settled[seq] = settled{s.paid | paid, s.taken | taken}
	if len(o.settled) >= settleMost {
		select {
		case o.hurry <- struct{}{}:
		default: // on its way
		}
	}
}

func (o *outbox) takeStock() map[int64]settled {
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.settled)
}

// noteSettled begins each transaction of the writer's with what is settled.
func (o *outbox) noteSettled(t *sqlitedb.Tx) error {
	o.writing = o.takeStock()
	for seq, s := range o.writing {
		if s.paid != both {
			if _, err := t.Exec(sqlSettle, int64(s.paid), int64(s.taken), seq); err != nil {
				return err
			}
		}
		clean := sqlClean
		if s.paid == both {
			clean = sqlRemove
		}
		if _, err := t.Exec(clean, seq); err != nil {
			return err
		}
	}
	return nil
}

// forgetNoted drops what is in the database now. What was settled meanwhile stays.
func (o *outbox) forgetNoted() { o.forget(o.writing) }

func (o *outbox) forget(noted map[int64]settled) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for seq, s := range noted {
		if o.settled[seq] == s {
			delete(o.settled, seq)
		}
	}
}

// tidy has what is settled noted in time when there are no uploads, and at the end.
func (o *outbox) tidy() {
	defer close(o.stopped)
	tick := time.NewTicker(settleWithin)
	defer tick.Stop()
	for stopped := false; !stopped; {
		select {
		case <-o.stop:
			stopped = true
		case <-o.hurry:
		case <-tick.C:
		}
		if len(o.takeStock()) == 0 {
			continue
		}
		// Each transaction notes it: one without any other work will do.
		if err := o.do(uuid.Nil, func(tx) error { return nil }); err != nil {
			o.log.Warn("the outbox could not be tidied up", "error", err)
		}
	}
}

// shred removes a piece of what the outbox keeps of an organization.
func (o *outbox) shred(org uuid.UUID, limit int) (removed int, err error) {
	err = o.do(org, func(t tx) error {
		result, err := t.Exec(sqlShred, org.String(), limit)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		removed = int(n)
		return err
	})
	return removed, err
}

// scrub cuts the WAL off, which may have any batch of late, also one that both sides got long ago. What was deleted
// in the database itself is overwritten already, and the pages that it took are given back to the file system.
func (o *outbox) scrub(ctx context.Context) error {
	return storeError(o.writer.EmptyLog(ctx, uuid.Nil))
}

// storeError turns what SQLite says of the outbox into a fault. Without the outbox there is no upload: what one side
// misses could not be kept.
func storeError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if errors.Is(err, sqlitedb.ErrNotInPlace) {
		return fault.Wrap(err, fault.StoreUnavailable,
			"the outbox's database file was removed or replaced while it was in use; put it back and restart")
	}
	switch sqlitedb.TroubleOf(err) {
	case sqlitedb.Full:
		return fault.Wrap(err, fault.StoreFull, "nothing was stored in the outbox: %s", sqlitedb.Full)
	case sqlitedb.Damaged:
		return fault.Wrap(err, fault.StoreCorrupt, "the outbox's database file is damaged; an operator must restore it")
	}
	return fault.Wrap(err, fault.StoreUnavailable, "the outbox can't be used right now")
}

// maxBatch is more than any batch takes unpacked.
const maxBatch = 512 << 20

// codec packs resources, byte for byte. Its frames have checksums: the database has none.
type codec struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

func newCodec() (*codec, error) {
	n := runtime.GOMAXPROCS(0)
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(n))
	if err != nil {
		return nil, err
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(n), zstd.WithDecoderMaxMemory(maxBatch))
	if err != nil {
		return nil, err
	}
	return &codec{encoder, decoder}, nil
}

func (c *codec) close() {
	_ = c.encoder.Close() // has no stream to finish
	c.decoder.Close()
}

func (c *codec) pack(resources []inventory.Resource) ([]byte, error) {
	var plain bytes.Buffer
	if err := gob.NewEncoder(&plain).Encode(resources); err != nil {
		return nil, err
	}
	return c.encoder.EncodeAll(plain.Bytes(), nil), nil
}

func (c *codec) unpack(body []byte) ([]inventory.Resource, error) {
	plain, err := c.decoder.DecodeAll(body, nil)
	if err != nil {
		return nil, damaged(err)
	}
	var resources []inventory.Resource
	if err := gob.NewDecoder(bytes.NewReader(plain)).Decode(&resources); err != nil {
		return nil, damaged(err)
	}
	return resources, nil
}

func damaged(err error) error {
	return fault.Wrap(err, fault.StoreCorrupt, "a batch in the outbox is damaged; an operator must restore it")
}
