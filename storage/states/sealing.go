package states

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	sqlSealMark = `SELECT (SELECT mark FROM state_sealing WHERE id = 1), EXISTS (SELECT 1 FROM state_data_keys)`
	newMark     = `state_sealing (id, mark) VALUES (1, ?)`
	sqlHaveMark = `SELECT mark FROM state_sealing WHERE id = 1 FOR UPDATE`
	sqlSetMark  = `UPDATE state_sealing SET mark = ? WHERE id = 1`
)

// beginSealing has the store seal, and finds out whether the master keys are those that the database was sealed under.
func (s *Store) beginSealing(ctx context.Context) error {
	if err := s.CheckMaster(ctx, s.options.Master); err != nil {
		return err
	}
	s.bodies.Seals.Use(seal.New(s.options.Master, s.keys), s.log)
	s.master.Store(s.options.Master)
	return nil
}

// CheckMaster returns why these master keys can't take the place of those that have wrapped the data keys.
func (s *Store) CheckMaster(ctx context.Context, master *seal.Master) error {
	var mark stateengine.Mark
	if err := s.keys.db.QueryRowContext(ctx, sqlSealMark).Scan(&mark.Mark, &mark.Keys); err != nil {
		return err
	}
	return mark.Check(master)
}

// addMark has the database say whose master keys wrap data keys, and refuses those of another node that has said so
// with other ones.
func (t *tx) addMark(master *seal.Master) error {
	if _, err := t.Exec(t.sql.InsertNew(newMark), stateengine.MarkOf(master)); err != nil {
		return err
	}
	var have stateengine.Mark
	if _, err := t.One([]any{&have.Mark}, sqlHaveMark); err != nil {
		return err
	}
	return have.Check(master)
}

// Turn has these master keys wrap and unwrap from now on.
func (s *Store) Turn(master *seal.Master) {
	s.bodies.Seals.Sealer().Turn(master)
	s.master.Store(master)
}

// Rewrap has a new master key wrap what older ones have wrapped, and says how many data keys that were.
func (s *Store) Rewrap(ctx context.Context, master *seal.Master) (changed int, err error) {
	if err := s.CheckMaster(ctx, master); err != nil {
		return 0, err
	}
	s.Turn(master)
	mark := stateengine.MarkOf(master)
	if err := s.write(ctx, state.Ref{}, func(t *tx) error { return t.Later(sqlSetMark, mark) }); err != nil {
		return 0, err
	}
	orgs, err := s.keys.owners(ctx)
	if err != nil {
		return 0, err
	}
	return s.bodies.Seals.Rewrap(ctx, orgs)
}

// UnopenedKeys says which organizations have data keys that can't be opened, and why.
func (s *Store) UnopenedKeys(ctx context.Context) (map[uuid.UUID]error, error) {
	orgs, err := s.keys.owners(ctx)
	if err != nil {
		return nil, err
	}
	return s.bodies.Seals.Check(ctx, orgs), nil
}
