package sqlite

import (
	"context"
	"database/sql"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// Current implements state.Store.
func (s *Store) Current(ctx context.Context, ref state.Ref) (snapshot state.Snapshot, err error) {
	snapshot, err = s.snapshot(ctx, ref, func(r *reader) *sql.Stmt { return r.current })
	s.suspect(ref, err)
	return snapshot, err
}

// Version implements state.Store.
func (s *Store) Version(ctx context.Context, ref state.Ref, number uint64) (snapshot state.Snapshot, err error) {
	snapshot, err = s.snapshot(ctx, ref, func(r *reader) *sql.Stmt { return r.version }, int64(number))
	if err == nil {
		err = stateengine.IsAsked(snapshot, number)
	}
	if err != nil {
		s.suspect(ref, err)
		return state.Snapshot{}, err
	}
	return snapshot, nil
}

// suspect forgets the state's base when something of it is damaged on disk: if it is the
// base itself, no further version may be a delta of it.
func (s *Store) suspect(ref state.Ref, err error) {
	if fault.Is(err, fault.StateCorrupt) {
		s.bodies.Bases.Drop(ref)
	}
}

// Head implements state.Store.
func (s *Store) Head(ctx context.Context, ref state.Ref) (head state.Head, err error) {
	in := s.bodies.Seals.Of(ctx, ref)
	err = s.read(ctx, func(r *reader) error {
		row, err := r.head.load(in)
		head = row.Head
		return err
	})
	return head, err
}

// Update implements state.Store. The body is compressed here, in the caller's goroutine;
// the decision runs in the writer's.
func (s *Store) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	if err := s.gate.Enter(); err != nil {
		return state.Head{}, err
	}
	defer s.gate.Leave()
	if err := ctx.Err(); err != nil {
		return state.Head{}, err
	}
	u, err := s.bodies.NewUpdate(ctx, ref, body, decide)
	if err != nil {
		return state.Head{}, err
	}
	return s.bodies.Make(ctx, u, body, func() error {
		return s.submit(ctx, ref.Org, len(u.Body.Bytes), func(t *session) error { return u.Run(t.updated(u)) })
	})
}
