package middleware

import (
	"context"
	"testing"

	"github.com/google/uuid"
)

// A turn is one request's at a time, and another organization's is not the same.
func TestTurns(t *testing.T) {
	turns, one, other := newTurns(), uuid.UUID{15: 1}, uuid.UUID{15: 2}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if !turns.take(t.Context(), one) || turns.take(ended, one) || !turns.take(t.Context(), other) {
		t.Fatal("a turn was given twice, or not at all")
	}
	turns.release(one)
	if !turns.take(t.Context(), one) {
		t.Fatal("a turn was lost")
	}
}
