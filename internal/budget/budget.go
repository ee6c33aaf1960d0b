// Package budget bounds what organizations have together of something that all of them
// share, such as the memory for bodies, so that some of it is left for each of them.
package budget

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/fair"
)

const (
	// reserved is the part of a budget, one of so many, that only lock holders get.
	reserved = 10
	// greed is how many times what is free an organization may have. One alone gets 2/3, the
	// next one 2/3 of the rest; while they release and acquire again, each of n greedy ones
	// comes down to 2/(1+2n), and 1/(1+2n) stays free for whoever comes next.
	greed = 2
	// patience is how long a caller waits before it is told to come back.
	patience = 30 * time.Second
	// retryAfter is what it is told to wait then.
	retryAfter = time.Second
)

// Budget is an amount of something. It is safe for concurrent use.
type Budget struct {
	what     string
	capacity int64 // 0 for no bound
	reserve  int64 // of it, for lock holders only
	refused  atomic.Uint64

	mu      sync.Mutex
	used    int64
	shares  map[Share]int64 // without zeros
	waiting fair.Queue[*request]
}

// Share is who acquires something. What a lock holder acquires because of its lock is
// counted apart: the rest of its organization must not use that up.
type Share struct {
	Org    uuid.UUID
	Holder bool
}

// request is one that waits.
type request struct {
	share   Share
	n       int64
	granted chan struct{} // closed when it has what it asked for
}

// New returns a budget that nothing has been acquired from; 0 bounds nothing. A tenth of it
// is for lock holders only, at least one unless that is all. what is for the message of a
// refusal: "as many " what " as the server takes at once".
func New(capacity int64, what string) *Budget {
	reserve := min(max(capacity/reserved, 1), capacity-1)
	return &Budget{what: what, capacity: capacity, reserve: reserve, shares: map[Share]int64{}}
}

// TryAcquire acquires n if there is as much for this share now. Release must follow.
func (b *Budget) TryAcquire(s Share, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.has(s, n) {
		return false
	}
	b.add(s, n)
	return true
}

// Fits reports whether TryAcquire would succeed now.
func (b *Budget) Fits(s Share, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.has(s, n)
}

// Force acquires n, whether there is as much or not.
func (b *Budget) Force(s Share, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(s, n)
}

// Release puts back what was acquired; all of it in the end, or a part.
func (b *Budget) Release(s Share, n int64) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(s, -n)
	b.serve()
}

// InUse returns how much is acquired now.
func (b *Budget) InUse() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Refuse counts a refusal, and returns it: a fault.Overloaded that says when to come back.
func (b *Budget) Refuse() error {
	b.refused.Add(1)
	f := fault.New(fault.Overloaded, "as many %s as the server takes at once; nothing was done", b.what)
	f.RetryAfter = retryAfter
	return f
}

// Refused returns how often Refuse was called.
func (b *Budget) Refused() uint64 { return b.refused.Load() }

// acquire waits until there is n for this share. Organizations that wait are served in
// turns; what does not fit yet holds up its own organization only. Errors: ctx's own, and
// fault.Overloaded after 30 seconds.
func (b *Budget) acquire(ctx context.Context, s Share, n int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	place := b.join(&request{s, n, make(chan struct{})})
	limit := time.NewTimer(patience)
	defer limit.Stop()
	var err error
	select {
	case <-place.Value.granted:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-limit.C:
		err = b.Refuse()
	}
	b.abandon(place)
	return err
}

func (b *Budget) join(r *request) *fair.Place[*request] {
	b.mu.Lock()
	defer b.mu.Unlock()
	place := b.waiting.Join(r.share.Org, r)
	b.serve()
	return place
}

// abandon takes a request out of the queue, or puts back what it got meanwhile.
func (b *Budget) abandon(place *fair.Place[*request]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.waiting.Leave(place) {
		b.add(place.Value.share, -place.Value.n)
		b.serve()
	}
}

// serve grants what fits now.
func (b *Budget) serve() {
	for !b.waiting.Empty() {
		next := b.waiting.Next(func(p *fair.Place[*request]) bool { return b.has(p.Value.share, p.Value.n) })
		if next == nil {
			return
		}
		b.add(next.Value.share, next.Value.n)
		close(next.Value.granted)
	}
}

func (b *Budget) has(s Share, n int64) bool {
	if b.capacity <= 0 {
		return true
	}
	free := b.capacity - b.used
	if !s.Holder {
		free -= b.reserve
	}
	has := b.shares[s] + n
	return n <= free && has <= greed*free && has <= b.most(s)
}

// most is what one share may have however much is free: what one alone comes to in small
// steps, so that a large one leaves as much to others. It is at least one.
func (b *Budget) most(s Share) int64 {
	all := b.capacity
	if !s.Holder {
		all -= b.reserve
	}
	return (greed*all + greed) / (greed + 1)
}

func (b *Budget) add(s Share, n int64) {
	b.used += n
	if b.shares[s] += n; b.shares[s] == 0 {
		delete(b.shares, s)
	}
}
