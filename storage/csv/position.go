package csv

import (
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/csvrow"
	"github.com/holdfast/holdfast/storage/csv/index"
)

// goOn decodes the query's cursor and looks for the row that it was given for, which may
// have moved when the file was changed and the index made again.
func (r *reading) goOn() (err error) {
	if r.query.After == "" {
		return nil
	}
	after, err := r.cursors.decode(r.query.After)
	if err != nil {
		return err
	}
	if after.offset > r.head.Length {
		return errCursor()
	}
	r.after, r.next = after.offset, after.offset
	row, err := r.rowAt(after.offset)
	if err == nil && row != nil && after.row != 0 && after.row != rowSum(row) {
		err = errMoved()
	}
	return err
}

// rowAt returns the row before the offset, or, in descending order, the one behind it; nil for one that was removed as
// all before it.
func (r *reading) rowAt(offset int64) ([]byte, error) {
	limit := offset
	if r.query.Order == inventory.Descending {
		limit++
	}
	found, err := r.segments(func(x *index.Index) ([]index.Segment, error) {
		return x.Before(r.ctx, r.head.ID, limit, index.Range{}, 1)
	})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && r.head.Base > 0 {
		return nil, nil
	}
	if len(found) == 0 {
		return nil, errCursor()
	}
	r.from = found[0].Start
	data, err := r.load(found[0])
	if err != nil {
		return nil, err
	}
	for at := r.from; at < limit; {
		n := csvrow.Length(data[at-r.from:])
		if n == 0 {
			break
		}
		row := data[at-r.from:][:n]
		begin := at
		at += int64(n)
		if begin == offset || at == offset && r.query.Order == inventory.Ascending {
			return row, nil
		}
	}
	return nil, errCursor() // it points into a row
}
