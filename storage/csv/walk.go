package csv

import (
	"bytes"

	"github.com/holdfast/holdfast/inventory/csvrow"
	"github.com/holdfast/holdfast/storage/csv/index"
)

// ascend reads segments forwards.
func (r *reading) ascend() error {
	offset := r.from
	r.next = max(r.after, 0)
	for {
		segments, err := r.segments(func(x *index.Index) ([]index.Segment, error) {
			return x.From(r.ctx, r.head.ID, offset, r.within, page)
		})
		if err != nil {
			return err
		}
		for _, s := range segments {
			if s.Start >= r.head.Length {
				return nil
			}
			if err := r.forwards(s); err != nil {
				return err
			}
			offset, r.next = s.End(), s.End() // not from its start on: Expire may leave a part of it, which begins later
		}
		if len(segments) < page {
			return nil
		}
	}
}

// forwards reads one segment, as far as the reading goes.
func (r *reading) forwards(s index.Segment) error {
	data, err := r.load(s)
	if err != nil {
		return err
	}
	data = data[:min(s.End(), r.head.Length)-s.Start]
	read := int(max(0, r.after-s.Start))
	line := s.Line + int64(bytes.Count(data[:read], []byte{'\n'}))
	for i := read; i < len(data); {
		n, err := r.row.Parse(data[i:])
		if err != nil {
			return r.t.bad(r.head.Place(line), err.Error())
		}
		if err := r.emit(line, s.Start+int64(i), data[i:i+n]); err != nil {
			return err
		}
		line += int64(r.row.Lines)
		i += n
	}
	return nil
}

// descend reads segments backwards.
func (r *reading) descend() error {
	offset := r.head.Length
	if r.after >= 0 {
		offset = r.after
	}
	for {
		segments, err := r.segments(func(x *index.Index) ([]index.Segment, error) {
			return x.Before(r.ctx, r.head.ID, offset, r.within, page)
		})
		if err != nil {
			return err
		}
		for _, s := range segments {
			if err := r.backwards(s, offset); err != nil {
				return err
			}
			offset = s.Start
		}
		if len(segments) < page {
			return nil
		}
	}
}

// backwards reads the rows of a segment that lie before the limit, the last one first.
func (r *reading) backwards(s index.Segment, limit int64) error {
	data, err := r.load(s)
	if err != nil {
		return err
	}
	data = data[:min(s.End(), limit)-s.Start]
	r.starts = r.starts[:0]
	for i := 0; i < len(data); {
		n := csvrow.Length(data[i:])
		if n == 0 {
			return errCursor() // it points into a row
		}
		r.starts = append(r.starts, i)
		i += n
	}
	for i := len(r.starts) - 1; i >= 0; i-- {
		start := r.starts[i]
		n, err := r.row.Parse(data[start:])
		if err != nil {
			return r.t.bad(r.head.Place(s.Line), err.Error())
		}
		if err := r.emit(s.Line, s.Start+int64(start), data[start:start+n]); err != nil {
			return err
		}
	}
	return nil
}
