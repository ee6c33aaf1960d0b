package sqlauth

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/sqldb"
)

// Kept counts the revisions that have pieces.
func (s *Store) Kept(ctx context.Context) (n int, err error) {
	err = s.db.Read(ctx, uuid.Nil, func(q sqldb.Querier) error {
		_, err := sqldb.One(q, []any{&n},
			"SELECT COUNT(DISTINCT r.number) FROM auth_revisions r JOIN auth_pieces p ON p.number = r.number")
		return err
	})
	return n, err
}

// Age has all nodes been silent for so much longer.
func (s *Store) Age(ctx context.Context, by time.Duration) error {
	return s.db.Write(ctx, uuid.Nil, func(tx sqldb.Tx) error {
		_, err := tx.Exec("UPDATE auth_copies SET seen = seen - ?", by.Microseconds())
		return err
	})
}
