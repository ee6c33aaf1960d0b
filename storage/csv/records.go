package csv

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/csvrow"
	"github.com/holdfast/holdfast/storage/csv/index"
)

// reading is one call of Records. It holds one segment's bytes at a time, and no file
// while its caller looks at a record.
type reading struct {
	store   *Store
	ctx     context.Context
	t       *tenant
	query   inventory.Query
	within  index.Range
	cursors cursors
	decoder *csvrow.Decoder
	yield   func(inventory.Positioned, error) bool

	head  index.Head // what is read ends at its length, at the end of an upload
	after int64      // the cursor's offset; -1 without one
	from  int64      // where the segment begins that has the row before it
	next  int64      // in ascending order, what lies before is read
	began bool       // a record was found

	buf    []byte
	loaded index.Segment // is in buf
	row    csvrow.Row
	starts []int
}

// errStop ends a reading without an error.
var errStop = errors.New("enough")

// Records implements inventory.Store.
func (s *Store) Records(ctx context.Context, org uuid.UUID,
	query inventory.Query) iter.Seq2[inventory.Positioned, error] {
	return func(yield func(inventory.Positioned, error) bool) {
		r := &reading{store: s, ctx: ctx, query: query, within: rangeOf(query), yield: yield, after: -1,
			decoder: csvrow.NewDecoder(org)}
		if err := r.run(org); err != nil && !errors.Is(err, errStop) {
			yield(inventory.Positioned{}, err)
		}
	}
}

func rangeOf(q inventory.Query) index.Range {
	r := index.Range{HasSince: !q.Since.IsZero(), HasUntil: !q.Until.IsZero()}
	if r.HasSince {
		r.Since = q.Since.UnixMicro()
	}
	if r.HasUntil {
		r.Until = microsBehind(q.Until)
	}
	return r
}

func (r *reading) run(org uuid.UUID) error {
	r.t = r.store.tenants.acquire(org)
	defer r.store.tenants.release(r.t)
	r.cursors = r.cursorsOf(r.query.Order)
	if err := r.start(org); err != nil {
		return err
	}
	if err := r.goOn(); err != nil {
		return err
	}
	if r.query.Order == inventory.Descending {
		return r.descend()
	}
	return r.ascend()
}

// start fixes what the reading sees: all that is committed now.
func (r *reading) start(org uuid.UUID) (err error) {
	if err := r.store.life.enter(); err != nil {
		return err
	}
	defer r.store.life.leave()
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if err := r.t.check(r.ctx); err != nil {
		return err
	}
	r.head, err = r.store.index.Head(r.ctx, org)
	return err
}

// segments asks the index for a page. If records were removed since the one before, it goes by the index as it is now.
func (r *reading) segments(ask func(*index.Index) ([]index.Segment, error)) ([]index.Segment, error) {
	if err := r.store.life.enter(); err != nil {
		return nil, err
	}
	defer r.store.life.leave()
	for {
		found, err := ask(r.store.index)
		var now index.Head
		if err == nil {
			now, err = r.store.index.Head(r.ctx, r.t.org)
		}
		if err == nil && now.ID == r.head.ID && now.Base != r.head.Base {
			if err = r.overtaken(now, r.next); err == nil {
				continue
			}
		}
		if err != nil && r.ctx.Err() != nil {
			return nil, r.ctx.Err()
		}
		return found, err
	}
}

// overtaken is for a reading of which records were removed meanwhile. It goes on if it needs nothing from before an
// offset that stays; else it would leave something out that was there when it began.
func (r *reading) overtaken(now index.Head, offset int64) error {
	first, err := r.store.index.From(r.ctx, now.ID, 0, index.Range{}, 1)
	if err != nil {
		return err
	}
	begin := now.Length
	for _, s := range first {
		begin = s.Start
	}
	if r.query.Order == inventory.Descending || offset < begin {
		err := fault.New(fault.StoreUnavailable, "old records were removed while they were read; ask again")
		err.RetryAfter = time.Second
		return err
	}
	r.head.Base, r.head.BaseLines = now.Base, now.BaseLines
	return nil
}

// emit gives a record to the caller, if the query asks for it. It is the row that begins at
// the offset.
func (r *reading) emit(line, offset int64, row []byte) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	record, err := r.decoder.Decode(&r.row)
	if err != nil {
		return (&badFile{path: r.t.path, first: r.head.Place(line), reason: err.Error()}).fault(r.t.org)
	}
	if !r.query.Matches(record) {
		return nil
	}
	if !r.yield(r.positioned(record, offset, row), nil) {
		return errStop
	}
	return nil
}

func (r *reading) positioned(record inventory.Record, offset int64, row []byte) inventory.Positioned {
	before := position{offset, rowSum(row)}
	behind := position{offset + int64(len(row)), before.row}
	if r.query.Order == inventory.Ascending {
		return inventory.Positioned{Record: record, Next: r.cursors.encode(behind)}
	}
	found := inventory.Positioned{Record: record, Next: r.cursors.encode(before)}
	if !r.began && r.query.After == "" {
		found.Later = r.cursorsOf(inventory.Ascending).encode(behind)
	}
	r.began = true
	return found
}

func (r *reading) cursorsOf(order inventory.Order) cursors {
	return newCursors(r.store.index.Key(), r.t.org, order)
}
