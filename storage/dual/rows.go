package dual

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/holdfast/holdfast/inventory"
)

const (
	sqlPut = `INSERT INTO batches (org, id, digest, request, at, since, count, owes, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	// sqlAll leaves the bodies where they are: there may be a lot of them.
	sqlAll  = `SELECT seq, org, id, digest, request, at, since, count, owes, length(body), x'' FROM batches ORDER BY seq`
	sqlFind = `SELECT seq, org, id, digest, request, at, since, count, owes, length(body), x'' FROM batches WHERE org = ? AND id = ?`
	sqlLoad = `SELECT seq, org, id, digest, request, at, since, count, owes, length(body), body FROM batches WHERE seq = ?`
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

// put makes a row durable, owed to both sides.
func (o *outbox) put(r *row) error {
	return o.do(func(tx *sql.Tx) error {
		result, err := tx.Exec(sqlPut, r.org.String(), r.id, r.digest[:], r.request, r.at.UnixMicro(), r.since.UnixMicro(), r.count, int64(r.owes), r.body)
		if err != nil {
			return err
		}
		r.seq, err = result.LastInsertId()
		return err
	})
}

// drop removes a row for good.
func (o *outbox) drop(seq int64) error {
	return o.do(func(tx *sql.Tx) error {
		_, err := tx.Exec(sqlRemove, seq)
		return err
	})
}

// find returns the row of a batch, without its body.
func (o *outbox) find(ctx context.Context, org uuid.UUID, id string) (row, bool, error) {
	r, err := o.scan(o.db.QueryRowContext(ctx, sqlFind, org.String(), id))
	if errors.Is(err, sql.ErrNoRows) {
		return row{}, false, nil
	}
	return r, r.owes != 0, storeError(err)
}

// load returns a row with its body.
func (o *outbox) load(ctx context.Context, seq int64) (row, error) {
	r, err := o.scan(o.db.QueryRowContext(ctx, sqlLoad, seq))
	return r, storeError(err)
}

// all returns every row in order, without the bodies.
func (o *outbox) all(ctx context.Context) ([]row, error) {
	found, err := o.db.QueryContext(ctx, sqlAll)
	if err != nil {
		return nil, storeError(err)
	}
	defer func() { _ = found.Close() }()
	var rows []row
	for found.Next() {
		r, err := o.scan(found)
		if err != nil {
			return nil, storeError(err)
		}
		rows = append(rows, r)
	}
	return rows, storeError(found.Err())
}

func (o *outbox) scan(from interface{ Scan(...any) error }) (row, error) {
	var r row
	var org string
	var digest []byte
	var at, since, owes int64
	if err := from.Scan(&r.seq, &org, &r.id, &digest, &r.request, &at, &since, &r.count, &owes, &r.size, &r.body); err != nil {
		return row{}, err
	}
	var err error
	r.org, err = uuid.Parse(org)
	copy(r.digest[:], digest)
	r.at, r.since = time.UnixMicro(at).UTC(), time.UnixMicro(since).UTC()
	r.owes = o.without(r.seq, names(owes))
	r.size += rowOverhead
	return r, err
}
