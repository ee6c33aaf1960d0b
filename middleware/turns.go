package middleware

import (
	"context"

	"github.com/google/uuid"
)

// turns lets one request of an organization at a time look a lock up: who sends a flood of
// wrong IDs waits for itself, and keeps no more than one of the store's readers busy. A few
// organizations share a turn, so that there are never more than these.
type turns [64]chan struct{}

func newTurns() (t turns) {
	for i := range t {
		t[i] = make(chan struct{}, 1)
	}
	return t
}

// take waits for the organization's turn, and reports false when ctx ends before. release
// must follow.
func (t *turns) take(ctx context.Context, org uuid.UUID) bool {
	select {
	case t.of(org) <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (t *turns) release(org uuid.UUID) { <-t.of(org) }

// of goes by the last byte, which is random in every kind of UUID.
func (t *turns) of(org uuid.UUID) chan struct{} { return t[int(org[len(org)-1])%len(t)] }
