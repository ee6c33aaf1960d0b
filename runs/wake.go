package runs

import "sync"

// watchers wakes those who wait for something of a run, or for work. What it says is only that
// they should look again: whoever hears nothing looks from time to time.
type watchers struct {
	mu      sync.Mutex
	waiting map[Ref]*watched
	work    chan struct{} // closed when there may be work
}

// watched is a run that somebody waits for.
type watched struct {
	count   int
	changed chan struct{} // closed at the next change
}

func newWatchers() *watchers {
	return &watchers{waiting: map[Ref]*watched{}, work: make(chan struct{})}
}

// tell says that the run has changed, and that there may be work.
func (c *watchers) tell(ref Ref) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wake(ref)
	close(c.work)
	c.work = make(chan struct{})
}

// tellLog says that a log of the run has grown.
func (c *watchers) tellLog(ref Ref) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wake(ref)
}

func (c *watchers) wake(ref Ref) {
	if w, ok := c.waiting[ref]; ok {
		close(w.changed)
		w.changed = make(chan struct{})
	}
}

// watch has the run watched until stop is called. next returns what is closed at the first
// change after next was called: look at the run behind it.
func (c *watchers) watch(ref Ref) (next func() <-chan struct{}, stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, ok := c.waiting[ref]
	if !ok {
		w = &watched{changed: make(chan struct{})}
		c.waiting[ref] = w
	}
	w.count++
	next = func() <-chan struct{} {
		c.mu.Lock()
		defer c.mu.Unlock()
		return w.changed
	}
	return next, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if w.count--; w.count == 0 {
			delete(c.waiting, ref)
		}
	}
}

// anyWork returns what is closed when there may be work, from now on.
func (c *watchers) anyWork() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.work
}
