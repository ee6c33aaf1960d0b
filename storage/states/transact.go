package states

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// transact runs work in a transaction, and returns nil when what it wrote is durable. An error of
// work's undoes all of it and is what transact returns. work may run several times, from the
// beginning. bytes is about how much it writes. ctx counts until it has begun.
func (s *Store) transact(ctx context.Context, ref state.Ref, bytes int, work func(*tx) error) error {
	if err := s.rewinds.of(ref); err != nil {
		return err
	}
	leave, err := s.lanes.enter(ctx, ref)
	if err != nil {
		return err
	}
	defer leave()
	release, err := s.writing.Acquire(ctx, ref.Org)
	if err != nil {
		return err
	}
	defer release()
	if err := ctx.Err(); err != nil {
		return err
	}
	s.owed.Store(true)
	var made *tx
	token, err := s.transactor.Do(ctx, bytes, func(session *sqldb.Session) error {
		if err := s.rewinds.of(ref); err != nil {
			return err // also of what this connection has just noticed
		}
		made = s.newTx(session, ref)
		if err := work(made); err != nil || !made.Wrote() {
			return err
		}
		return made.finish()
	})
	if err == nil && token != uuid.Nil {
		s.remember(ctx, made, token)
	}
	return s.explain(ctx, err)
}
