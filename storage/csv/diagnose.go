package csv

import (
	"context"
	"errors"
	"io"
	"math"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory/csvrow"
	"github.com/holdfast/holdfast/storage/csv/index"
)

// suspect is a part of the file with a wrong checksum.
type suspect struct {
	start, end  int64
	first, last int64 // lines of the file
	lf          bool
}

// diagnose says which line of a segment with a wrong checksum is to blame: a row that
// can't be, else the first line of the first upload that is not as it was recorded, else,
// for uploads that are not remembered any more, the segment's first line.
func (t *tenant) diagnose(ctx context.Context, f io.ReaderAt, s index.Segment) error {
	part := suspect{start: s.Start, end: s.End(), first: t.head.Place(s.Line),
		last: t.head.Place(t.lineBehind(ctx, s)) - 1, lf: s.LF}
	batches, err := t.store.index.Between(ctx, t.head.ID, s.Start, s.End())
	if err != nil {
		return err
	}
	for _, b := range batches {
		same, err := t.matches(f, b.Start, b.Length, b.CRC)
		if err != nil {
			return err
		}
		if !same {
			first := t.head.Place(b.Line)
			part = suspect{start: b.Start, end: b.Start + b.Length, first: first, last: first + int64(b.Count) - 1, lf: s.LF}
			break
		}
	}
	if err := t.scan(f, part); err != nil {
		return err
	}
	return (&badFile{path: t.path, first: part.first, last: part.last, reason: "the checksum is wrong"}).fault(t.org)
}

// lineBehind returns the number of the line behind a segment.
func (t *tenant) lineBehind(ctx context.Context, s index.Segment) int64 {
	next, err := t.store.index.From(ctx, t.head.ID, s.End(), index.Range{}, 1)
	if err != nil || len(next) == 0 {
		return t.head.Line
	}
	return next[0].Line
}

// scan looks for a row that can't be. It reads on behind the part's end, because an edit
// may have moved rows.
func (t *tenant) scan(f io.ReaderAt, part suspect) error {
	r := csvrow.NewReader(io.NewSectionReader(f, part.start, math.MaxInt64-part.start), part.start, part.first)
	c := checker{decoder: csvrow.NewDecoder(t.org), newest: index.Never}
	for {
		err := r.Next()
		if err == io.EOF || err == nil && r.Offset >= part.end {
			return nil
		}
		if err == nil && r.Row.LF && !part.lf {
			err = errors.New("the line ends in LF alone")
		}
		if err == nil {
			_, err = c.check(&r.Row)
		}
		if err != nil {
			return t.badRow(r, err)
		}
	}
}

// badRow refuses the file for a row that a reader could not take. That the file could not be
// read says nothing of its rows.
func (t *tenant) badRow(r *csvrow.Reader, err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	bad := &badFile{path: t.path, first: r.Line, reason: err.Error()}
	if syntax, ok := errors.AsType[*csvrow.SyntaxError](err); ok {
		bad.first, bad.reason = syntax.Line, syntax.Reason
	}
	if err == io.EOF {
		bad.reason = "the file ends too early"
	}
	return bad.fault(t.org)
}

// checker checks rows one after another.
type checker struct {
	decoder *csvrow.Decoder
	newest  int64
}

// check returns the row's timestamp.
func (c *checker) check(row *csvrow.Row) (int64, error) {
	record, err := c.decoder.Decode(row)
	if err != nil {
		return 0, err
	}
	if err := csvrow.CheckAttributes(row); err != nil {
		return 0, err
	}
	at := record.Timestamp.UnixMicro()
	if at < c.newest {
		return 0, errors.New("timestamp is before that of the row above")
	}
	c.newest = at
	return at, nil
}
