package budget

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/holdfast/holdfast/fault"
)

// watched notes what a budget has in use at each write, and fails when it has had enough.
type watched struct {
	bytes.Buffer
	budget *Budget
	used   []int64
	enough int
}

func held(t *testing.T, b *Budget, n int64) *Hold {
	t.Helper()
	h := holdOf(b, 0)
	if !h.TryAcquire(n) {
		t.Fatalf("there is no room for %d", n)
	}
	return h
}

var errEnough = errors.New("enough")

func (w *watched) Write(p []byte) (int, error) {
	if w.used = append(w.used, w.budget.used); w.enough > 0 && w.Len()+len(p) > w.enough {
		return 0, errEnough
	}
	return w.Buffer.Write(p)
}

func written(t *testing.T, to *Buffer, size int) []byte {
	t.Helper()
	text := make([]byte, size)
	for i := range text {
		text[i] = byte(i / 100)
	}
	for rest := text; len(rest) > 0; {
		n := min(len(rest), 1+rand.IntN(20_000))
		if written, err := to.Write(rest[:n]); written != n || err != nil {
			t.Fatalf("%d of %d, %v", written, n, err)
		}
		rest = rest[n:]
	}
	return text
}

// A buffer counts for what it takes, beside what else its hold has, and goes as it is sent.
func TestBuffer(t *testing.T) {
	for _, size := range []int{0, 1, firstPiece, firstPiece + 1, 100_000, 5 << 20} {
		b := forTest(64 << 20)
		hold := held(t, b, 2000)
		buffer := NewBuffer(hold, 2000)
		text := written(t, buffer, size)
		if n := int64(size); buffer.Len() != n || b.used < 2000+n || b.used > 2000+max(2*n, n+lastPiece, firstPiece) {
			t.Errorf("%d bytes are %d, and %d are in use", size, buffer.Len(), b.used)
		}
		buffer.Alone()
		if b.used != buffer.size {
			t.Errorf("what was beside it is still in use: %d of %d", b.used, buffer.size)
		}
		out := &watched{budget: b}
		if n, err := buffer.WriteTo(out); n != int64(size) || err != nil || !bytes.Equal(out.Bytes(), text) {
			t.Errorf("%d bytes, %v, or other ones", n, err)
		}
		for i := 1; i < len(out.used); i++ {
			if out.used[i] >= out.used[i-1] {
				t.Errorf("nothing of what was sent is free again: %v", out.used)
			}
		}
		hold.Release()
		wantUnused(t, b)
	}
}

// It uses what its hold has for it before it acquires more.
func TestBufferUsesItsHold(t *testing.T) {
	b := forTest(64 << 20)
	hold := held(t, b, 2000+200_000)
	buffer := NewBuffer(hold, 2000)
	written(t, buffer, 100_000)
	if b.used != 202_000 {
		t.Errorf("%d are in use", b.used)
	}
	hold.Release()
	wantUnused(t, b)
}

// Where there is no memory, it is refused; what it has goes with its hold.
func TestBufferIsBounded(t *testing.T) {
	b := forTest(1 << 20)
	hold := held(t, b, 1000)
	buffer := NewBuffer(hold, 1000)
	n, err := buffer.Write(make([]byte, 2<<20))
	if !fault.Is(err, fault.Overloaded) || int64(n) != buffer.Len() || b.used > 1<<20 {
		t.Errorf("%d bytes, %v, %d in use", n, err, b.used)
	}
	hold.Release()
	wantUnused(t, b)
}

// Who breaks off has what is left with the hold.
func TestBufferBrokenOff(t *testing.T) {
	b := forTest(64 << 20)
	hold := held(t, b, 10)
	buffer := NewBuffer(hold, 10)
	written(t, buffer, 5<<20)
	if n, err := buffer.WriteTo(&watched{budget: b, enough: 3 << 20}); !errors.Is(err, errEnough) || n > 3<<20 {
		t.Errorf("%d bytes, %v", n, err)
	}
	hold.Release()
	wantUnused(t, b)
}

// What is acquired beside a buffer stays that of who acquired it.
func TestBesideABuffer(t *testing.T) {
	b := forTest(1 << 20)
	hold := held(t, b, 300_000)
	buffer := NewBuffer(hold, 100_000)
	written(t, buffer, 50_000)
	if err := buffer.Beside(150_000); err != nil || b.used > 320_000 {
		t.Errorf("%v, %d are in use", err, b.used)
	}
	written(t, buffer, 100_000)
	if b.used < 400_000 {
		t.Errorf("the buffer has what is beside it: %d are in use", b.used)
	}
	if err := buffer.Beside(1 << 20); !fault.Is(err, fault.Overloaded) {
		t.Errorf("more than there is: %v", err)
	}
	buffer.Alone()
	if b.used < 150_000 || b.used > 300_000 {
		t.Errorf("of 150,000 alone, %d are in use", b.used)
	}
	hold.Release()
	wantUnused(t, b)
}
