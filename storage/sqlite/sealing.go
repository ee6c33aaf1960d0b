package sqlite

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	sqlSealMark = `SELECT (SELECT mark FROM sealing), EXISTS (SELECT 1 FROM data_keys)`
	sqlAddMark  = `INSERT OR IGNORE INTO sealing (id, mark) VALUES (1, ?)`
	sqlSetMark  = `UPDATE sealing SET mark = ?`
)

// beginSealing has the store seal, and finds out whether the master keys are those that it was sealed under.
func (s *Store) beginSealing(ctx context.Context, o Options) error {
	db, err := databaseFile(s.path).OpenReader()
	if err != nil {
		return err
	}
	s.keys = &keys{s, db}
	if err := s.CheckMaster(ctx, o.Master); err != nil {
		return err
	}
	s.bodies.Seals.Use(seal.New(o.Master, s.keys), s.log)
	s.master.Store(o.Master)
	return nil
}

// CheckMaster returns why these master keys can't take the place of those that have wrapped the data keys.
func (s *Store) CheckMaster(ctx context.Context, master *seal.Master) error {
	var mark stateengine.Mark
	if err := s.keys.reader.QueryRowContext(ctx, sqlSealMark).Scan(&mark.Mark, &mark.Keys); err != nil {
		return err
	}
	return mark.Check(master)
}

// Turn has these master keys wrap and unwrap from now on.
func (s *Store) Turn(master *seal.Master) {
	s.bodies.Seals.Sealer().Turn(master)
	s.master.Store(master)
}

// Rewrap has a new master key wrap what older ones have wrapped, and says how many data keys that were.
func (s *Store) Rewrap(ctx context.Context, master *seal.Master) (changed int, err error) {
	if err := s.gate.Enter(); err != nil {
		return 0, err
	}
	defer s.gate.Leave()
	if err := s.CheckMaster(ctx, master); err != nil {
		return 0, err
	}
	s.Turn(master)
	err = s.submit(ctx, server(), 0, func(t *session) error { return t.run(sqlSetMark, stateengine.MarkOf(master)) })
	if err != nil {
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
