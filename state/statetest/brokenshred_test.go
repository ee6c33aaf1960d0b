package statetest_test

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
)

// shredder is what stores of states and of uploads have in common.
type shredder interface {
	Shred(ctx context.Context, org uuid.UUID, limit int) (int, error)
}

// Ways to destroy something else than what was asked for.
type shredding func(next shredder, seen map[uuid.UUID]bool, ctx context.Context, org uuid.UUID, limit int) (int, error)

func shredsNothing(shredder, map[uuid.UUID]bool, context.Context, uuid.UUID, int) (int, error) {
	return 0, nil
}

func shredsOnePiece(next shredder, seen map[uuid.UUID]bool, ctx context.Context, org uuid.UUID,
	limit int) (int, error) {
	if seen[org] {
		return 0, nil
	}
	seen[org] = true
	return next.Shred(ctx, org, limit)
}

// shredsAtOnce takes no notice of the limit.
func shredsAtOnce(next shredder, _ map[uuid.UUID]bool, ctx context.Context, org uuid.UUID, _ int) (int, error) {
	return next.Shred(ctx, org, 1<<30)
}

type shredsStates struct {
	state.Store
	shred shredding
	seen  map[uuid.UUID]bool
}

func (s shredsStates) Shred(ctx context.Context, org uuid.UUID, limit int) (int, error) {
	return s.shred(s.Store, s.seen, ctx, org, limit)
}

func statesShredded(by shredding) func(state.Store) state.Store {
	return func(next state.Store) state.Store { return shredsStates{next, by, map[uuid.UUID]bool{}} }
}

// shredsOthers destroys what everybody has that wrote before.
type shredsOthers struct {
	state.Store
	orgs map[uuid.UUID]bool
}

func (s shredsOthers) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	s.orgs[ref.Org] = true
	return s.Store.Update(ctx, ref, body, decide)
}

func (s shredsOthers) Shred(ctx context.Context, _ uuid.UUID, limit int) (int, error) {
	for org := range s.orgs {
		if n, err := s.Store.Shred(ctx, org, limit); n > 0 || err != nil {
			return n, err
		}
	}
	return 0, nil
}

// countsShredded has Totals count states that were destroyed, as one of which the counts are kept apart
// from the rows may.
type countsShredded struct {
	state.Store
	shredded *int64
}

func (s countsShredded) Shred(ctx context.Context, org uuid.UUID, limit int) (int, error) {
	before, _ := s.Store.Totals(ctx)
	removed, err := s.Store.Shred(ctx, org, limit)
	after, _ := s.Store.Totals(ctx)
	*s.shredded += before.States - after.States
	return removed, err
}

func (s countsShredded) Totals(ctx context.Context) (state.Totals, error) {
	t, err := s.Store.Totals(ctx)
	t.States += *s.shredded
	return t, err
}

func shredBreakages() map[string]breakage {
	return map[string]breakage{
		"shreds nothing":   {statesShredded(shredsNothing), []string{"Shred"}},
		"shreds one piece": {statesShredded(shredsOnePiece), []string{"Shred"}},
		"shreds at once":   {statesShredded(shredsAtOnce), []string{"Shred"}},
		"counts on":        {func(s state.Store) state.Store { return countsShredded{s, new(int64)} }, []string{"Shred"}},
		"shreds others": {func(s state.Store) state.Store { return shredsOthers{s, map[uuid.UUID]bool{}} },
			[]string{"Shred"}},
	}
}
