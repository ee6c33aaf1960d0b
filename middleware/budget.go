package middleware

import (
	"sync"

	"github.com/google/uuid"
)

const (
	// reserved is the part of a budget, one of so many, that only lock holders get.
	reserved = 10
	// greed is how many times what is free an organization may have. One alone gets 2/3, the
	// next one 2/3 of the rest; while they give back and take again, each of n greedy ones
	// comes down to 2/(1+2n), and 1/(1+2n) stays free for whoever comes next.
	greed = 2
)

// budget is an amount of something that all requests share. It is safe for concurrent use.
type budget struct {
	capacity int64 // 0 for no bound
	reserve  int64 // of it, for lock holders only

	mu     sync.Mutex
	used   int64
	shares map[share]int64 // without zeros
}

// share is who has taken what. What a lock holder takes because of its lock is counted
// apart: the rest of its organization must not use that up.
type share struct {
	org    uuid.UUID
	holder bool
}

// newBudget reserves a tenth for lock holders, at least one unless that is all.
func newBudget(capacity int64) *budget {
	reserve := min(max(capacity/reserved, 1), capacity-1)
	return &budget{capacity: capacity, reserve: reserve, shares: map[share]int64{}}
}

// take takes n, if it is there. give must follow.
func (b *budget) take(s share, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.has(s, n) {
		return false
	}
	b.add(s, n)
	return true
}

// fits reports whether take would succeed now.
func (b *budget) fits(s share, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.has(s, n)
}

func (b *budget) has(s share, n int64) bool {
	if b.capacity <= 0 {
		return true
	}
	free := b.capacity - b.used
	if !s.holder {
		free -= b.reserve
	}
	return n <= free && b.shares[s]+n <= greed*free
}

// force takes n, whether it is there or not.
func (b *budget) force(s share, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(s, n)
}

// give puts back what was taken; all of it in the end, or a part.
func (b *budget) give(s share, n int64) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(s, -n)
}

func (b *budget) add(s share, n int64) {
	b.used += n
	if b.shares[s] += n; b.shares[s] == 0 {
		delete(b.shares, s)
	}
}

// inUse returns how much is taken now.
func (b *budget) inUse() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}
