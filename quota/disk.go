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
	return max(d.found-d.held-d.spent, 0), d.err == nil
}

// hold announces that n bytes may be written. release must follow.
func (d *disk) hold(n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held += n
}

func (d *disk) release(n int64, stored bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held -= n
	if stored {
		d.spent += n
	}
}
