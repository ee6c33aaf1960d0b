package csv

import (
	"hash/crc32"
	"io"

	"github.com/holdfast/holdfast/storage/csv/index"
)

// load reads a segment and compares its checksum. A wrong one has the whole file looked
// at, because the line to blame may lie before the segment.
func (r *reading) load(s index.Segment) ([]byte, error) {
	if r.loaded == s {
		return r.buf, nil
	}
	if err := r.store.life.enter(); err != nil {
		return nil, err
	}
	defer r.store.life.leave()
	same, err := r.read(s)
	if err != nil {
		return nil, err
	}
	if same {
		r.loaded = s
		return r.buf, nil
	}
	if err := r.t.inspect(r.ctx); err != nil {
		return nil, err
	}
	if same, err = r.read(s); err == nil && !same { // it was changed and changed back
		err = r.t.bad(s.Line, "the checksum is wrong")
	}
	return r.buf, err
}

// read fills the buffer with the segment and reports whether the checksum is right.
func (r *reading) read(s index.Segment) (same bool, err error) {
	r.loaded = index.Segment{}
	if int64(cap(r.buf)) < s.Length {
		r.buf = make([]byte, s.Length, max(s.Length, segmentSize+segmentSize/4))
	}
	r.buf = r.buf[:s.Length]
	if _, err := (piecewise{r.ctx, r.t}).ReadAt(r.buf, s.Start); err != nil && err != io.EOF {
		return false, err
	}
	return crc32.Checksum(r.buf, castagnoli()) == s.CRC, nil
}
