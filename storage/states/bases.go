package states

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// findBase implements stateengine.Find, by two statements: a base that goes away in between is
// none.
func (s *Store) findBase(ctx context.Context, ref state.Ref, from, to int) (*stateengine.Found, error) {
	ctx, cancel := context.WithTimeout(ctx, bodyTimeout)
	defer cancel()
	in := s.bodies.Seals.Of(ctx, ref)
	var found stateengine.Found
	var number int64
	err := s.readers.QueryRowContext(ctx, sqlBaseOfNewest, ref.Org.String(), string(ref.Name), from, to).
		Scan(&found.Base.ID, &found.Base.Newest, &number)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	kept, err := s.numbered(ctx, ref, uint64(number))
	if err != nil || kept.own.on != 0 {
		return nil, err
	}
	found.Kept = kept.own.body()
	found.Base.Kept = kept.row.Digest()
	found.Version, err = kept.row.Value(in)
	return &found, err
}

// numbered reads a version for a call that is let in already.
func (s *Store) numbered(ctx context.Context, ref state.Ref, number uint64) (*storedVersion, error) {
	args := []any{ref.Org.String(), string(ref.Name), stateengine.Key(number)}
	return s.scanVersion(ctx, s.texts.version, slices.Concat(args, args))
}

// Lend implements readmap.Borrower.
func (s *Store) Lend(newest func(state.Ref) (state.Snapshot, bool)) { s.bodies.Lend(newest) }
