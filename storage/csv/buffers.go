package csv

import (
	"math/bits"
	"sync"
)

// largestKept bounds what one buffer keeps in memory while nobody uses it.
const largestKept = 1 << 20

// buffers lends memory for the rows of uploads, which is some 200 KB for one of 46 KB. To
// make it anew each time, for the collector of garbage to find, took a twentieth of an
// upload's processor time.
type buffers struct{ free sync.Pool }

// acquire returns an empty buffer with room for so many bytes.
func (b *buffers) acquire(room int) []byte {
	if free, ok := b.free.Get().(*[]byte); ok && cap(*free) >= room {
		return (*free)[:0]
	}
	return make([]byte, 0, 1<<bits.Len(uint(max(room, 1)-1))) // of few sizes, so that they fit again
}

// release takes a buffer back; nobody may use it any more.
func (b *buffers) release(buffer []byte) {
	if cap(buffer) > 0 && cap(buffer) <= largestKept {
		b.free.Put(&buffer)
	}
}
