package runs

import (
	"sync"
)

// watchers wakes those who wait for something of a run, or for work. What it says is only that
// they should look again.
type watchers struct {
	mu      sync.Mutex
	waiting map[Ref]*watched
	work    chan struct{} // closed when there may be work
}

// watched is a run that somebody waits for.
type watched struct {
	count   int           // of those who wait
	changed chan struct{} // closed at the next change of the run
	grown   chan struct{} // closed at the next change of the run or of its logs
	changes int64         // of the run
	growths int64         // of the run or of its logs
	unwatch func()        // ends what looks after it

	parts   *partCache
	reading sync.Mutex // one reads for all
	seen    sight
	quiet   *LogPart // the end of a log, behind which there was nothing
	quietAt partKey
	quietIn int64 // growths
}

func newWatchers() *watchers {
	return &watchers{waiting: map[Ref]*watched{}, work: make(chan struct{})}
}

// tell says that the run has changed.
func (c *watchers) tell(ref Ref) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w, ok := c.waiting[ref]; ok {
		w.changes++
		renew(&w.changed)
		w.grow()
	}
}

// tellLog says that a log of the run has grown.
func (c *watchers) tellLog(ref Ref) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w, ok := c.waiting[ref]; ok {
		w.grow()
	}
}

func (w *watched) grow() {
	w.growths++
	renew(&w.grown)
}

// tellWork says that there may be work.
func (c *watchers) tellWork() {
	c.mu.Lock()
	defer c.mu.Unlock()
	renew(&c.work)
}

func renew(channel *chan struct{}) {
	close(*channel)
	*channel = make(chan struct{})
}

// watch has the run watched until stop is called. parts makes what keeps parts of its logs meanwhile.
// look is called for the first who does: it looks after the run, for all, until what it returns is
// called.
func (c *watchers) watch(ref Ref, parts func() *partCache, look func(*watched) (end func())) (w *watched, stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, ok := c.waiting[ref]
	if !ok {
		w = &watched{changed: make(chan struct{}), grown: make(chan struct{}), changes: 1, parts: parts()}
		c.waiting[ref] = w
		w.unwatch = look(w)
	}
	w.count++
	return w, sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if w.count--; w.count == 0 {
			delete(c.waiting, ref)
			w.unwatch()
			w.parts.close()
		}
	})
}

// watches returns what is watched of the run; nil where nobody does.
func (c *watchers) watches(ref Ref) *watched {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiting[ref]
}

// next returns what is closed at the first change from now on: of the run, and of the run or its
// logs.
func (c *watchers) next(w *watched) (changed, grown <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return w.changed, w.grown
}

// versions returns how often the run, and it or its logs, have changed.
func (c *watchers) versions(w *watched) (changes, growths int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return w.changes, w.growths
}

// anyWork returns what is closed when there may be work, from now on.
func (c *watchers) anyWork() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.work
}
