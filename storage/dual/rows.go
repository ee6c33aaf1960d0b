package dual

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// rowColumns are what scan reads, but for the body.
const rowColumns = `SELECT seq, org, id, digest, request, at, since, count, owes, refused, knows, reason, length(body), `

const (
	sqlPut = `INSERT INTO batches (org, id, digest, request, at, since, count, owes, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	// sqlAll leaves the bodies where they are: there may be a lot of them.
	sqlAll     = rowColumns + `x'' FROM batches ORDER BY seq`
	sqlFind    = rowColumns + `x'' FROM batches WHERE org = ? AND id = ?`
	sqlRow     = rowColumns + `x'' FROM batches WHERE seq = ?`
	sqlLoad    = rowColumns + `body FROM batches WHERE seq = ?`
	sqlReplace = `DELETE FROM batches WHERE org = ? AND id = ? AND digest = ?`
)

// rowOverhead is about what a row takes beside its body.
const rowOverhead = 256

// row is a batch in the outbox.
type row struct {
	seq     int64
	org     uuid.UUID
	id      string
	digest  [32]byte
	request string
	at      time.Time
	since   time.Time // when it was put there
	count   int
	owes    names
	refused names  // those that refuse it for good
	knows   names  // those of them that know its ID for another batch, and refuse no more than that
	reason  string // why they do
	size    int64
	body    []byte
}

func newRow(c *codec, batch inventory.Batch, now time.Time) (row, error) {
	body, err := c.pack(batch.Resources)
	if err != nil {
		return row{}, err
	}
	return row{
		org: batch.Org, id: batch.ID, digest: batch.Digest, request: batch.Request, at: batch.At, since: now,
		count: len(batch.Resources), owes: both, size: int64(len(body)) + rowOverhead, body: body,
	}, nil
}

// batch is what the row was made from.
func (r row) batch(c *codec) (inventory.Batch, error) {
	resources, err := c.unpack(r.body)
	return inventory.Batch{ID: r.id, Digest: r.digest, Org: r.org, Request: r.request, At: r.at, Resources: resources}, err
}

// has are the sides that surely have the batch.
func (r row) has() names { return both.without(r.owes).without(r.refused) }

// undecided says that no side is known to have the batch: nobody was told that it is
// recorded.
func (r row) undecided() bool { return r.has() == 0 }

// debt is what a side is owed by the row.
func (r row) debt() debt { return debt{seq: r.seq, size: r.size, records: r.count} }

// put makes rows of one organization durable, owed to both sides, and sets their numbers.
//
// A row of the same batch may be there, owed to nobody: it is about to be removed because
// both sides have it, or a commit that failed has happened after all. The new row takes its
// place, at the end of the order.
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
	result, err := t.Exec(sqlPut, r.org.String(), r.id, r.digest[:], r.request, r.at.UnixMicro(), r.since.UnixMicro(),
		r.count, int64(r.owes), r.body)
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

// find returns the row of a batch, without its body.
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
func (o *outbox) all(ctx context.Context) ([]row, error) { return list(ctx, o, o.scanning(), sqlAll) }

// scanner is a row of an answer.
type scanner interface{ Scan(...any) error }

// list returns what a query of the outbox finds.
func list[T any](ctx context.Context, o *outbox,
	scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	found, err := o.readers.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, storeError(err)
	}
	defer func() { _ = found.Close() }()
	var rows []T
	for found.Next() {
		r, err := scan(found)
		if err != nil {
			return nil, storeError(err)
		}
		rows = append(rows, r)
	}
	return rows, storeError(found.Err())
}

// scanning returns what reads the rows of a query that is to be made next. What was settled by
// now counts, also if it is written, and forgotten, while the query still sees the row as it was.
func (o *outbox) scanning() func(scanner) (row, error) {
	settled := o.takeStock()
	return func(from scanner) (row, error) {
		r, err := o.scan(from)
		r.owes = r.owes.without(settled[r.seq])
		return r, err
	}
}

func (o *outbox) scan(from scanner) (row, error) {
	var r row
	var org string
	var digest []byte
	var at, since, owes, refused, knows int64
	if err := from.Scan(&r.seq, &org, &r.id, &digest, &r.request, &at, &since, &r.count, &owes, &refused, &knows,
		&r.reason, &r.size, &r.body); err != nil {
		return row{}, err
	}
	var err error
	r.org, err = uuid.Parse(org)
	copy(r.digest[:], digest)
	r.at, r.since = time.UnixMicro(at).UTC(), time.UnixMicro(since).UTC()
	r.owes, r.refused, r.knows = o.without(r.seq, names(owes)), names(refused), names(knows)
	r.size += rowOverhead
	return r, err
}
