package csv

import (
	"context"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/csv/index"
)

const (
	queueLimit = 4096    // uploads that wait for an organization's file
	groupCount = 256     // of them share a write,
	groupBytes = 8 << 20 // unless they have more bytes than this
)

// tenant is one organization's file, as this process knows it.
type tenant struct {
	store *Store
	org   uuid.UUID
	path  string
	refs  int // of tenants

	mu      sync.Mutex
	queue   []*pending
	running bool
	view    view

	expiring slots // lets one in at a time who removes records; comes before gate

	// gate lets one in at a time who appends, verifies or adopts. It guards what follows.
	gate slots
	head index.Head
	last index.Segment // the one that may grow
	// tail is the file while bytes of a failed append may be behind its end.
	tail appendFile
	// unsettled is what an append would have led to of which the index knows.
	unsettled *plan
}

// view is what a reader may know without passing the gate.
type view struct {
	known   bool  // the rest counts
	writing bool  // the file is being changed by us
	stamp   stamp // how the file was left
	refused error
}

// enqueue adds uploads, as neighbours, and starts a goroutine for the organization if none is
// at work.
func (t *tenant) enqueue(group ...*pending) error {
	t.mu.Lock()
	if len(t.queue)+len(group) > queueLimit {
		t.mu.Unlock()
		return errQueueFull()
	}
	t.queue = append(t.queue, group...)
	start := !t.running
	t.running = true
	t.mu.Unlock() // before tenants' mutex is taken
	if start {
		t.store.life.stay()
		t.store.tenants.hold(t)
		go t.run()
	}
	return nil
}

// withdraw takes an upload back, unless it has begun, and with it those that are not to be
// recorded without it. They have their answer then.
func (t *tenant) withdraw(p *pending, reason error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.queue, p)
	if i < 0 {
		return
	}
	end := i + 1
	for end < len(t.queue) && t.queue[end].before == t.queue[end-1] {
		end++
	}
	for _, withdrawn := range t.queue[i:end] {
		withdrawn.answer(reason)
	}
	t.queue = slices.Delete(t.queue, i, end)
}

// run carries out what waits until nothing does.
func (t *tenant) run() {
	defer t.store.life.leave()
	defer t.store.tenants.release(t)
	for t.more() {
		t.turn()
	}
}

func (t *tenant) more() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running = len(t.queue) > 0
	return t.running
}

// turn carries out one group. What it takes is decided as late as possible: all that came
// while the one before was written shares this write. While it compares a large file it
// holds none of the places that all organizations share.
func (t *tenant) turn() {
	_ = t.gate.acquire(context.Background())
	defer t.gate.release()
	err := t.ready()
	_ = t.store.active.acquire(context.Background())
	defer t.store.active.release()
	group := t.next()
	if err == nil {
		err = t.record(group)
	}
	for _, p := range group {
		p.answer(err)
	}
}

// next takes the next group from the queue.
func (t *tenant) next() []*pending {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, size := 0, 0
	for n < len(t.queue) && n < groupCount {
		if size += len(t.queue[n].rows); n > 0 && size > groupBytes {
			break
		}
		n++
	}
	group := slices.Clone(t.queue[:n])
	t.queue = slices.Delete(t.queue, 0, n)
	return group
}

func (t *tenant) look(change func(*view)) view {
	t.mu.Lock()
	defer t.mu.Unlock()
	if change != nil {
		change(&t.view)
	}
	return t.view
}

// dirty reports whether the file may be longer than the index says.
func (t *tenant) dirty() bool {
	return t.look(nil).writing
}
