// Package digest measures contents while they are read: how long they are, and their SHA-256.
package digest

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
)

// SHA256 is the SHA-256 of a content.
type SHA256 [sha256.Size]byte

// String is the digest in hexadecimal digits.
func (d SHA256) String() string { return hex.EncodeToString(d[:]) }

// Reader measures what is read through it.
type Reader struct {
	from  io.Reader
	limit int64
	over  func() error
	sum   hash.Hash // nil where nobody asks for it

	// N is how many bytes were read.
	N int64
	// Failed is how reading has failed, which tells a source that broke off from what is made of
	// it; nil at its end.
	Failed error
}

// NewReader returns a Reader that sums what is read, of which there may be limit bytes: one more,
// and reading ends with what over returns.
func NewReader(from io.Reader, limit int64, over func() error) *Reader {
	return &Reader{from: from, limit: limit, over: over, sum: sha256.New()}
}

// NewBounded is NewReader without a sum.
func NewBounded(from io.Reader, limit int64, over func() error) *Reader {
	return &Reader{from: from, limit: limit, over: over}
}

// NewCounter returns a Reader that counts, without a bound or a sum.
func NewCounter(from io.Reader) *Reader { return &Reader{from: from} }

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if r.sum != nil {
		r.sum.Write(p[:n])
	}
	if r.N += int64(n); r.over != nil && r.N > r.limit {
		n, err = 0, r.over()
	}
	if err != nil && err != io.EOF {
		r.Failed = err
	}
	return n, err
}

// Sum is the digest of what was read; of a Reader that sums.
func (r *Reader) Sum() SHA256 { return SHA256(r.sum.Sum(nil)) }
