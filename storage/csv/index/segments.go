package index

import (
	"context"
	"database/sql"
	"iter"
)

// Range selects segments that have records since a time and before another, in
// microseconds. Its zero value selects all.
type Range struct {
	Since, Until       int64
	HasSince, HasUntil bool
}

const (
	segmentColumns = "SELECT start, length, records, line, first, last, crc, lf FROM segments WHERE org = ?1"
	inRange        = " AND (NOT ?3 OR last >= ?4) AND (NOT ?5 OR first < ?6)"
)

// From returns up to limit segments that begin at the offset or behind it, in order.
func (x *Index) From(ctx context.Context, id, offset int64, r Range, limit int) ([]Segment, error) {
	return x.segments(ctx, limit, segmentColumns+" AND start >= ?2"+inRange+" ORDER BY start LIMIT ?7",
		id, offset, r.HasSince, r.Since, r.HasUntil, r.Until, limit)
}

// Before returns up to limit segments that begin before the offset, from the last one
// backwards.
func (x *Index) Before(ctx context.Context, id, offset int64, r Range, limit int) ([]Segment, error) {
	return x.segments(ctx, limit, segmentColumns+" AND start < ?2"+inRange+" ORDER BY start DESC LIMIT ?7",
		id, offset, r.HasSince, r.Since, r.HasUntil, r.Until, limit)
}

// Last returns the segment that has the byte before the offset; a zero one if there is
// none.
func (x *Index) Last(ctx context.Context, id, offset int64) (Segment, error) {
	found, err := x.Before(ctx, id, offset, Range{}, 1)
	if err != nil || len(found) == 0 {
		return Segment{}, err
	}
	return found[0], nil
}

func (x *Index) segments(ctx context.Context, limit int, query string, args ...any) ([]Segment, error) {
	found := make([]Segment, 0, limit)
	rows, err := x.readers.QueryContext(ctx, query, args...)
	for s, err := range scan(rows, err, scanSegment) {
		if err != nil {
			return nil, err
		}
		found = append(found, s)
	}
	return found, nil
}

func scanSegment(rows *sql.Rows) (s Segment, err error) {
	err = rows.Scan(&s.Start, &s.Length, &s.Records, &s.Line, &s.First, &s.Last, &s.CRC, &s.LF)
	return s, err
}

// scan yields what one makes of each row, and ends with the first error.
func scan[T any](rows *sql.Rows, err error, one func(*sql.Rows) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if err != nil {
			yield(none, storeError(err))
			return
		}
		defer func() { _ = rows.Close() }() // what it could say, Err says
		for rows.Next() {
			value, err := one(rows)
			if !yield(value, storeError(err)) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(none, storeError(err))
		}
	}
}
