package sqluploads

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/turns"
)

// ownConnections is how many connections of the pool the organizations leave to the store
// itself: it looks whether the server is there, forgets old batches and lists organizations,
// however busy they are.
const ownConnections = 1

// newTurns shares a pool of so many connections among organizations. The pool itself would
// serve those who wait in the order in which they came, all of a greedy organization's before
// the next one of another. A turn is one connection: a call never has two at once.
func newTurns(connections int) *turns.Turns {
	places := max(connections-ownConnections, 1)
	return turns.New(places, max(places/2, 1))
}

// readInTurn is again in the organization's turn. It is for one answer of the server's: what
// takes longer, because its caller looks at records meanwhile, takes a turn for each page.
func readInTurn[T any](ctx context.Context, s *Store, org uuid.UUID,
	read func(context.Context) (T, error)) (found T, err error) {
	release, err := s.turns.Acquire(ctx, org)
	if err != nil {
		return found, err
	}
	defer release()
	return again(ctx, s.engine, read)
}
