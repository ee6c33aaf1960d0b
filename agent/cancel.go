package agent

import "sync"

// level is how urgently a stage is to end.
type level int

const (
	unwanted level = iota // goes on
	soft                  // the tool ends what it has begun, and begins nothing
	hard                  // at once
)

func parseLevel(text string) level {
	switch text {
	case "soft":
		return soft
	case "hard":
		return hard
	}
	return unwanted
}

// String is the level as the server has it.
func (l level) String() string { return [...]string{"", "soft", "hard"}[l] }

// cancels is how urgently a stage is to end: it only ever becomes more so.
type cancels struct {
	mu      sync.Mutex
	level   level
	changed chan struct{}
}

func newCancels() *cancels { return &cancels{changed: make(chan struct{})} }

func (c *cancels) raise(to level) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if to > c.level {
		c.level = to
		close(c.changed)
		c.changed = make(chan struct{})
	}
}

// state returns the level, and what is closed when it changes.
func (c *cancels) state() (level, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.level, c.changed
}

func (c *cancels) wanted() bool {
	l, _ := c.state()
	return l > unwanted
}
