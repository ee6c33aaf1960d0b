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
	if err := r.query.Take(r.takes(s)); err != nil {
		return nil, err
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
	if err := r.catchUp(s); err != nil {
		return nil, err
	}
	if same, err = r.read(s); err != nil || same {
		return r.buf, err
	}
	if err := r.t.inspect(r.ctx); err != nil {
		return nil, err
	}
	if same, err = r.read(s); err == nil && !same { // it was changed and changed back
		err = r.t.bad(r.head.Place(s.Line), "the checksum is wrong")
	}
	return r.buf, err
}

// catchUp waits for who changes the file, and finds out whether a segment is where it was: Expire may have put another
// file in its place.
func (r *reading) catchUp(s index.Segment) error {
	if err := r.t.gate.acquire(r.ctx); err != nil {
		return err
	}
	defer r.t.gate.release()
	if err := r.t.ready(); err != nil {
		return err
	}
	if now := r.t.head; now.ID == r.head.ID && now.Base != r.head.Base {
		return r.overtaken(now, s.Start)
	}
	return nil
}

// takes returns how much memory a segment needs. One that is larger than usual is so because
// of a large row, which is there three times: in the buffer, without its quotes, and as a
// record.
func (r *reading) takes(s index.Segment) int64 {
	buffer := max(int64(cap(r.buf)), s.Length, usualBuffer)
	if s.Length <= usualBuffer {
		return buffer
	}
	return buffer + 2*s.Length
}

// read fills the buffer with the segment and reports whether the checksum is right.
func (r *reading) read(s index.Segment) (same bool, err error) {
	r.loaded = index.Segment{}
	if int64(cap(r.buf)) < s.Length {
		r.buf = make([]byte, s.Length, max(s.Length, usualBuffer))
	}
	r.buf = r.buf[:s.Length]
	if _, err := (piecewise{r.ctx, r.t, r.head.Base}).ReadAt(r.buf, s.Start); err != nil && err != io.EOF {
		return false, err
	}
	return crc32.Checksum(r.buf, castagnoli()) == s.CRC, nil
}
