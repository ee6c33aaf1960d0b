package quota

import (
	"sync"
	"time"
)

// lookEvery is how old what is known of the disk may be.
const lookEvery = time.Second

// disk is what is free on the data's disk. Between two looks it counts what is being stored,
// so that many requests can't pass together on the same free bytes.
type disk struct {
	look func() (int64, error)
	now  func() time.Time

	mu    sync.Mutex
	at    time.Time // of the last look; zero before the first
	err   error
	found int64 // by the last look
	held  int64 // may be written now
	spent int64 // was written since the last look, at most
}

// free returns how many bytes are free, besides what is about to be stored; false when
// nobody knows.
func (d *disk) free() (int64, bool) {
	if d.look == nil {
		return 0, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	if age := now.Sub(d.at); d.at.IsZero() || age < 0 || age >= lookEvery {
		d.found, d.err = d.look()
		d.at, d.spent = now, 0
	}
	return d.left(), d.err == nil
}

func (d *disk) left() int64 { return max(d.found-d.held-d.spent, 0) }

// hold is what one change may be writing now.
type hold struct {
	bytes  int64
	closed bool
}

// claim gives back what h holds, and has it hold what grant says instead. grant is told what
// is free by then, as of the last look, and nobody else is told before it has answered: two
// that are granted have different bytes.
func (d *disk) claim(h *hold, grant func(free int64, known bool) int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held -= h.bytes
	h.bytes = 0
	n := grant(d.left(), d.look != nil && !d.at.IsZero() && d.err == nil)
	if !h.closed {
		d.held += n
		h.bytes = n
	}
}

// release ends h: a late claim holds nothing, as nobody would give it back.
func (d *disk) release(h *hold, stored bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held -= h.bytes
	if stored {
		d.spent += h.bytes
	}
	*h = hold{closed: true}
}
