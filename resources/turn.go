package resources

import (
	"context"
	"sync"
)

// turn is taken by who changes an index, for one state or one piece of uploads at a time:
// so a purge comes in between, however much the indexer has before it.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// alone runs a change while there is no other.
func (t turn) alone(ctx context.Context, change func() error) error {
	select {
	case t <- struct{}{}:
		defer func() { <-t }()
		return change()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// progress lets others wait for an indexer.
type progress struct {
	mu           sync.Mutex
	begun, ended int           // looks at what is written
	moved        chan struct{} // closed at the next step
}

func newProgress() *progress { return &progress{moved: make(chan struct{})} }

func (p *progress) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun++
}

func (p *progress) end() {
	p.mu.Lock()
	p.ended++
	p.mu.Unlock()
	p.step()
}

// step tells who waits that there is more in the index.
func (p *progress) step() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.moved)
	p.moved = make(chan struct{})
}

// next is the number of the look that begins next: it sees all that is written by now.
func (p *progress) next() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.begun + 1
}

// after returns a channel that is closed at the next step, or nil when the look of this
// number has ended.
func (p *progress) after(look int) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended >= look {
		return nil
	}
	return p.moved
}
