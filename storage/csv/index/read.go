package index

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// Head returns what is known of an organization's file.
func (x *Index) Head(ctx context.Context, org uuid.UUID) (Head, error) {
	var h Head
	err := x.readers.QueryRowContext(ctx,
		`SELECT id, length, newest, records, line, inode, changed, base, base_lines
		FROM orgs WHERE org = ?`, org.String()).
		Scan(&h.ID, &h.Length, &h.Newest, &h.Records, &h.Line, &h.Seal.Inode, &h.Seal.Changed, &h.Base, &h.BaseLines)
	if errors.Is(err, sql.ErrNoRows) {
		return Head{Newest: Never, Line: 1}, nil
	}
	return h, storeError(err)
}

// Find returns those of the named batches that were recorded. Each is asked for by itself,
// with a statement that is prepared once: to parse one for all took 100 µs of each upload.
func (x *Index) Find(ctx context.Context, id int64, names []string) (map[string]Batch, error) {
	found := map[string]Batch{}
	for _, name := range names {
		rows, err := x.find.QueryContext(ctx, id, name)
		for b, err := range scan(rows, err, scanBatch) {
			if err != nil {
				return nil, err
			}
			found[b.ID] = b
		}
	}
	return found, nil
}

// Between returns the batches that have bytes between the offsets and are remembered.
func (x *Index) Between(ctx context.Context, id, from, to int64) (found []Batch, err error) {
	rows, err := x.readers.QueryContext(ctx, batchColumns+" AND start + length > ? AND start < ? ORDER BY start", id, from,
		to)
	for b, err := range scan(rows, err, scanBatch) {
		if err != nil {
			return nil, err
		}
		found = append(found, b)
	}
	return found, nil
}

const batchColumns = "SELECT id, digest, request, at, count, created, start, length, line, crc FROM batches " +
	"WHERE org = ?"

func scanBatch(rows *sql.Rows) (b Batch, err error) {
	var digest []byte
	err = rows.Scan(&b.ID, &digest, &b.Request, &b.At, &b.Count, &b.Created, &b.Start, &b.Length, &b.Line, &b.CRC)
	copy(b.Digest[:], digest)
	return b, err
}

// Groups returns an organization's groups in order.
func (x *Index) Groups(ctx context.Context, id int64) (groups []inventory.Group, err error) {
	rows, err := x.readers.QueryContext(ctx, `SELECT provider, category, resource_type, count, first, last
		FROM groups WHERE org = ? ORDER BY provider, category, resource_type`, id)
	for g, err := range scan(rows, err, scanGroup) {
		if err != nil {
			return nil, err
		}
		groups = append(groups, g)
	}
	return groups, nil
}

func scanGroup(rows *sql.Rows) (g inventory.Group, err error) {
	var first, last int64
	err = rows.Scan(&g.Provider, &g.Category, &g.ResourceType, &g.Count, &first, &last)
	g.First, g.Last = time.UnixMicro(first).UTC(), time.UnixMicro(last).UTC()
	return g, err
}

// Entry is one organization of a list.
type Entry struct {
	Org uuid.UUID
	Head
}

// List returns up to limit organizations behind one, in the order of their IDs.
func (x *Index) List(ctx context.Context, after string, limit int) (entries []Entry, err error) {
	rows, err := x.readers.QueryContext(ctx,
		"SELECT id, org, length, records, base FROM orgs WHERE org > ? ORDER BY org LIMIT ?", after, limit)
	for e, err := range scan(rows, err, scanEntry) {
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func scanEntry(rows *sql.Rows) (e Entry, err error) {
	var org string
	if err := rows.Scan(&e.ID, &org, &e.Length, &e.Records, &e.Base); err != nil {
		return e, err
	}
	e.Org, err = uuid.Parse(org)
	return e, err
}
