package runs

import (
	"sync"

	"github.com/holdfast/holdfast/internal/budget"
)

// partCache has the parts of a run's logs that those who watch it are shown, so that each is read,
// and made ready to be sent, once for all who are at about the same place. What it has is acquired
// from the memory of the run's organization. It keeps a part for a few looks at the run, and nothing
// when nobody watches any more.
type partCache struct {
	memory *budget.Budget
	share  budget.Share

	mu     sync.Mutex
	parts  map[partKey]*cachedPart
	order  []partKey // the oldest first
	looks  int
	closed bool
}

type cachedPart struct {
	part *LogPart
	hold budget.Hold
	look int // in which it came
}

const (
	// maxParts is how many parts of a run's logs are kept.
	maxParts = 16
	// partLooks is for how many looks of lookAfter a part is kept.
	partLooks = 5
)

// cost is what a part takes: its bytes, and its event, which has them in base64.
func (p *LogPart) cost() int64 { return partBytes + int64(len(p.Text))*7/3 }

func newPartCache(memory *budget.Budget, ref Ref) *partCache {
	return &partCache{memory: memory, share: budget.Share{Org: ref.Org}, parts: map[partKey]*cachedPart{}}
}

func (c *partCache) get(key partKey) (*LogPart, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found, ok := c.parts[key]; ok {
		return found.part, true
	}
	return nil, false
}

// add keeps a part, unless there is no memory for it.
func (c *partCache) add(key partKey, part *LogPart) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.remove(key)
	for len(c.order) >= maxParts {
		c.remove(c.order[0])
	}
	kept := &cachedPart{part: part, hold: c.memory.Hold(c.share), look: c.looks}
	for !kept.hold.TryAcquire(part.cost()) {
		if len(c.order) == 0 {
			return
		}
		c.remove(c.order[0])
	}
	c.parts[key], c.order = kept, append(c.order, key)
}

// look removes what was kept for long enough.
func (c *partCache) look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks++
	for len(c.order) > 0 && c.looks-c.parts[c.order[0]].look > partLooks {
		c.remove(c.order[0])
	}
}

// close removes everything, and keeps nothing from then on.
func (c *partCache) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for len(c.order) > 0 {
		c.remove(c.order[0])
	}
}

func (c *partCache) remove(key partKey) {
	found, ok := c.parts[key]
	if !ok {
		return
	}
	found.hold.Release()
	delete(c.parts, key)
	for i, k := range c.order {
		if k == key {
			c.order = append(c.order[:i:i], c.order[i+1:]...)
			return
		}
	}
}
