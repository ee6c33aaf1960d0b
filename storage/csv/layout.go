package csv

import (
	"bytes"
	"hash/crc32"

	"github.com/holdfast/holdfast/storage/csv/index"
)

// layout follows a file row by row: its head, and its segments.
type layout struct {
	head     index.Head
	last     index.Segment   // the one that grows; none of length 0
	segments []index.Segment // new ones, and the last if it has grown
}

// header takes the first row, which belongs to no segment.
func (l *layout) header(length int) {
	l.head.Length = int64(length)
	l.head.Line = 2
}

// add takes a record's row.
func (l *layout) add(row []byte, at int64, lf bool) {
	if l.last.Length == 0 || l.last.Length >= segmentSize {
		l.last = index.Segment{Start: l.head.Length, Line: l.head.Line, First: at}
	}
	s := &l.last
	s.Length += int64(len(row))
	s.Records++
	s.Last = at
	s.CRC = crc32.Update(s.CRC, castagnoli(), row)
	s.LF = s.LF || lf
	l.keep(*s)
	l.head.Length += int64(len(row))
	l.head.Line += int64(bytes.Count(row, []byte{'\n'}))
	l.head.Records++
	l.head.Newest = at
}

func (l *layout) keep(s index.Segment) {
	if n := len(l.segments); n > 0 && l.segments[n-1].Start == s.Start {
		l.segments[n-1] = s
		return
	}
	l.segments = append(l.segments, s)
}
