package readmap

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast/holdfast/state"
)

const (
	// mostLookups is how many look-ups are under way at once. Few reads at a time have one each
	// and wait for nobody; many fill those that are to begin next.
	mostLookups = 4
	// lookupPatience is how long one may take. A store has its own deadlines; they are to be
	// the ones that are met.
	lookupPatience = 30 * time.Second
)

// confirmer knows the tip of a state, of a moment after of was called.
type confirmer interface {
	of(ctx context.Context, ref state.Ref) (state.Tip, error)
	wait() // until it asks nothing any more
}

// tips asks the store below which versions are the newest, for many reads at once.
type tips struct {
	below  state.Newest
	places int // for look-ups that are under way

	mu      sync.Mutex
	waiting []*lookup // have not begun; the last one takes in who comes
	under   int       // look-ups under way
	running sync.WaitGroup
}

func newTips(below state.Newest) *tips { return &tips{below: below, places: mostLookups} }

// lookup is one question to the store below. refs is complete when it begins; tips and err are
// there when done is closed.
type lookup struct {
	refs  []state.Ref
	index map[state.Ref]int // of refs
	done  chan struct{}
	tips  []state.Tip
	err   error
	panic any // what the store below panicked with
}

// of returns the tip of a state, of a look-up that begins after of was called.
func (t *tips) of(ctx context.Context, ref state.Ref) (state.Tip, error) {
	l := t.join(ctx, ref)
	select {
	case <-l.done:
	case <-ctx.Done():
		return state.Tip{}, ctx.Err()
	}
	if l.panic != nil {
		panic(l.panic) // as in a call of its own: a panic ends requests, not the process
	}
	if l.err != nil {
		return state.Tip{}, l.err
	}
	return l.tips[l.index[ref]], nil
}

// join has a look-up that has not begun yet ask for ref too, and begins one where there is a
// place. It goes on when the read ends that it began for: others may have joined it.
func (t *tips) join(ctx context.Context, ref state.Ref) *lookup {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.open(ref)
	if t.under < t.places {
		t.under++
		first := t.next()
		t.running.Go(func() { t.run(context.WithoutCancel(ctx), first) })
	}
	return l
}

// open returns a look-up that has not begun and asks for ref. t.mu is held.
func (t *tips) open(ref state.Ref) *lookup {
	if n := len(t.waiting); n > 0 {
		if l := t.waiting[n-1]; l.takes(ref) {
			return l
		}
	}
	l := &lookup{index: map[state.Ref]int{}, done: make(chan struct{})}
	l.takes(ref)
	t.waiting = append(t.waiting, l)
	return l
}

// takes has the look-up ask for ref, unless it is full.
func (l *lookup) takes(ref state.Ref) bool {
	if _, already := l.index[ref]; already {
		return true
	}
	if len(l.refs) == state.MostNewest {
		return false
	}
	l.index[ref] = len(l.refs)
	l.refs = append(l.refs, ref)
	return true
}

// next takes the look-up that has waited longest, nil when none does. t.mu is held.
func (t *tips) next() *lookup {
	if len(t.waiting) == 0 {
		return nil
	}
	l := t.waiting[0]
	t.waiting = t.waiting[1:]
	return l
}

// run makes a look-up, and those that have waited for its end.
func (t *tips) run(ctx context.Context, l *lookup) {
	for l != nil {
		t.ask(ctx, l)
		t.mu.Lock()
		if l = t.next(); l == nil {
			t.under--
		}
		t.mu.Unlock()
	}
}

// ask makes one. Whatever happens below, who waits for it is told.
func (t *tips) ask(ctx context.Context, l *lookup) {
	ctx, cancel := context.WithTimeout(ctx, lookupPatience)
	defer cancel()
	defer close(l.done)
	defer func() { l.panic = recover() }()
	l.tips, l.err = t.below.Newest(ctx, l.refs)
}

// wait returns when no look-up is under way any more.
func (t *tips) wait() { t.running.Wait() }
