package csvrow

import (
	"errors"
	"io"
)

// MaxRow is the length of the longest row that is read: more than an upload can make.
const MaxRow = 32 << 20

const readSize = 64 << 10

// Reader reads the rows of a file one after another. It holds one row and what was read
// ahead.
type Reader struct {
	// Row is the one that Next found, Raw are its bytes until the next call, Offset and
	// Line are its place.
	Row    Row
	Raw    []byte
	Offset int64
	Line   int64

	src        io.Reader
	ended      bool
	buf        []byte
	start, end int // what of buf is not read yet
	nextOffset int64
	nextLine   int64
}

// NewReader returns a Reader of src, which starts at this place of the whole.
func NewReader(src io.Reader, offset, line int64) *Reader {
	return &Reader{src: src, nextOffset: offset, nextLine: line}
}

// Next reads a row. The error is io.EOF behind the last row, ErrShort if the file ends in
// the middle of one, a *SyntaxError with the line within the file, or the source's.
func (r *Reader) Next() error {
	r.Offset, r.Line = r.nextOffset, r.nextLine
	for {
		n, err := r.Row.Parse(r.buf[r.start:r.end])
		if err == nil {
			r.Raw = r.buf[r.start : r.start+n]
			r.start += n
			r.nextOffset += int64(n)
			r.nextLine += int64(r.Row.Lines)
			return nil
		}
		if !errors.Is(err, ErrShort) {
			return r.place(err)
		}
		if err := r.more(); err != nil {
			return err
		}
	}
}

// Rest is what the file has behind the last whole row, after ErrShort.
func (r *Reader) Rest() []byte { return r.buf[r.start:r.end] }

// End is the place behind the row that Next found.
func (r *Reader) End() (offset, line int64) { return r.nextOffset, r.nextLine }

func (r *Reader) place(err error) error {
	if syntax, ok := errors.AsType[*SyntaxError](err); ok {
		return &SyntaxError{Line: r.Line + syntax.Line - 1, Reason: syntax.Reason}
	}
	return err
}

// more reads on. A row that does not fit gets twice the room.
func (r *Reader) more() error {
	switch {
	case r.ended && r.start == r.end:
		return io.EOF
	case r.ended:
		return ErrShort
	case r.end-r.start > MaxRow:
		return &SyntaxError{Line: r.Line, Reason: "the row is longer than any that was written here; a quote may be missing"}
	}
	r.makeRoom()
	n, err := io.ReadAtLeast(r.src, r.buf[r.end:], 1)
	r.end += n
	if err == io.EOF {
		r.ended = true
		return nil
	}
	return err
}

func (r *Reader) makeRoom() {
	if r.start > 0 {
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	}
	if r.end < len(r.buf) {
		return
	}
	grown := make([]byte, max(readSize, 2*len(r.buf)))
	copy(grown, r.buf[:r.end])
	r.buf = grown
}
