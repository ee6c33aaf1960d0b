package notices

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// Shred implements webhook.Outbox. Notices that were told before have left their bytes in the files
// too, which the call that finds no row any more overwrites with the others.
func (s *Store) Shred(ctx context.Context, org uuid.UUID, limit int) (removed int, err error) {
	err = s.do(ctx, func(t *sqlitedb.Tx) error {
		removed = 0 // there may have been a try before
		result, err := t.Exec(`DELETE FROM notices WHERE org = ?1 AND (sequence, at) IN (SELECT sequence, at FROM notices WHERE org = ?1 LIMIT ?2)`,
			org.String(), limit)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		removed = int(n)
		return err
	})
	if err != nil {
		return 0, err
	}
	if removed > 0 {
		s.dirt.Add()
		return removed, nil
	}
	return 0, s.dirt.Clear(func() error { return s.scrub(ctx) })
}

// scrub writes the database anew, without what was deleted, and cuts the WAL off. There is never much
// in it, and its pages move with auto_vacuum, so that to overwrite single ones would not be enough.
func (s *Store) scrub(ctx context.Context) error {
	err := s.writer.Submit(ctx, sqlitedb.Job{Alone: true, Run: func(t *sqlitedb.Tx) error {
		_, err := t.Exec("VACUUM")
		return err
	}})
	if err != nil {
		return err
	}
	return s.writer.EmptyLog(ctx, uuid.Nil)
}
