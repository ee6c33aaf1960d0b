package runs

import "sync"

// changes wakes those who wait for something of a run, or for work. What it says is only that
// they should look again: whoever hears nothing looks from time to time.
type changes struct {
	mu      sync.Mutex
	waiting map[Ref]*watched
	work    chan struct{} // closed when there may be work
}

// watched is a run that somebody waits for.
type watched struct {
	watchers int
	changed  chan struct{} // closed at the next change
}

func newChanges() *changes {
	return &changes{waiting: map[Ref]*watched{}, work: make(chan struct{})}
}

// tell says that the run has changed, and that there may be work.
func (c *changes) tell(ref Ref) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wake(ref)
	close(c.work)
	c.work = make(chan struct{})
}

// tellLog says that a log of the run has grown.
func (c *changes) tellLog(ref Ref) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wake(ref)
}

func (c *changes) wake(ref Ref) {
	if w, ok := c.waiting[ref]; ok {
		close(w.changed)
		w.changed = make(chan struct{})
	}
}

// watch has the run watched until stop is called. next returns what is closed at the first
// change after next was called: look at the run behind it.
func (c *changes) watch(ref Ref) (next func() <-chan struct{}, stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, ok := c.waiting[ref]
	if !ok {
		w = &watched{changed: make(chan struct{})}
		c.waiting[ref] = w
	}
	w.watchers++
	next = func() <-chan struct{} {
		c.mu.Lock()
		defer c.mu.Unlock()
		return w.changed
	}
	return next, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if w.watchers--; w.watchers == 0 {
			delete(c.waiting, ref)
		}
	}
}

// anyWork returns what is closed when there may be work, from now on.
func (c *changes) anyWork() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.work
}
