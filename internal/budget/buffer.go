package budget

import "io"

const (
	firstPiece = 4 << 10
	lastPiece  = 1 << 20
)

// Buffer gathers an answer in memory that a Hold has, or acquires for it without waiting. It
// is used by one goroutine at a time.
type Buffer struct {
	hold   *Hold
	beside int64 // what hold has for something else than this buffer
	pieces [][]byte
	size   int64 // of all pieces, with the room in them that is not used yet
	length int64
}

// NewBuffer returns an empty one. Of what hold has, beside is for something else; it must
// hold no less than that as long as the buffer is written to.
func NewBuffer(hold *Hold, beside int64) *Buffer { return &Buffer{hold: hold, beside: beside} }

// Write implements io.Writer. Its error is fault.Overloaded.
func (b *Buffer) Write(p []byte) (written int, err error) {
	for len(p) > 0 {
		last := len(b.pieces) - 1
		if last < 0 || len(b.pieces[last]) == cap(b.pieces[last]) {
			if err := b.grow(); err != nil {
				return written, err
			}
			continue
		}
		room := cap(b.pieces[last]) - len(b.pieces[last])
		n := min(len(p), room)
		b.pieces[last] = append(b.pieces[last], p[:n]...)
		p, written, b.length = p[n:], written+n, b.length+int64(n)
	}
	return written, nil
}

// grow adds a piece that is as large as all before it, within bounds.
func (b *Buffer) grow() error {
	size := min(max(b.size, firstPiece), lastPiece)
	if lacks := b.beside + b.size + size - b.hold.Amount(); lacks > 0 {
		if err := b.hold.AcquireNow(lacks); err != nil {
			return err
		}
	}
	b.pieces, b.size = append(b.pieces, make([]byte, 0, size)), b.size+size
	return nil
}

// Beside acquires n more for something else than the buffer, without waiting. Its error is
// fault.Overloaded.
func (b *Buffer) Beside(n int64) error {
	if lacks := b.beside + n + b.size - b.hold.Amount(); lacks > 0 {
		if err := b.hold.AcquireNow(lacks); err != nil {
			return err
		}
	}
	b.beside += n
	return nil
}

// Len returns how many bytes were written to it, and not written out yet.
func (b *Buffer) Len() int64 { return b.length }

// Alone has the hold keep what the buffer takes, and release all else.
func (b *Buffer) Alone() {
	b.beside = 0
	b.hold.Keep(b.size)
}

// WriteTo implements io.WriterTo. What was written out is released at once.
func (b *Buffer) WriteTo(w io.Writer) (written int64, err error) {
	for i, piece := range b.pieces {
		n, err := w.Write(piece)
		if written += int64(n); err != nil {
			return written, err
		}
		b.pieces[i] = nil
		b.size, b.length = b.size-int64(cap(piece)), b.length-int64(n)
		b.hold.Keep(b.beside + b.size)
	}
	b.pieces = nil
	return written, nil
}
