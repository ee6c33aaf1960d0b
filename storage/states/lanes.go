package states

import (
	"context"
	"sync"

	"github.com/holdfast/holdfast/state"
)

// lanes let one transaction of each state begin at a time in this process. Another one would wait
// in the database, and take up a connection there: so those that wait for a state whose row a node
// has locked that stopped don't keep others from theirs.
type lanes struct {
	mu   sync.Mutex
	busy map[state.Ref]*lane
}

// lane is one state's.
type lane struct {
	token chan struct{} // has one token while nobody is in the lane
	users int           // in it, or waiting
}

// enter waits until nobody is in the state's lane. The caller calls leave once.
func (l *lanes) enter(ctx context.Context, ref state.Ref) (leave func(), err error) {
	if ref.Name == "" { // it is about no state
		return func() {}, nil
	}
	own := l.join(ref)
	select {
	case <-own.token:
		return func() { own.token <- struct{}{}; l.quit(ref, own) }, nil
	case <-ctx.Done():
		l.quit(ref, own)
		return nil, ctx.Err()
	}
}

func (l *lanes) join(ref state.Ref) *lane {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy == nil {
		l.busy = map[state.Ref]*lane{}
	}
	own := l.busy[ref]
	if own == nil {
		own = &lane{token: make(chan struct{}, 1)}
		own.token <- struct{}{}
		l.busy[ref] = own
	}
	own.users++
	return own
}

func (l *lanes) quit(ref state.Ref, own *lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(l.busy, ref)
	}
}
