package sqlauth

import (
	"context"
	"database/sql"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth/copies"
	"github.com/holdfast/holdfast/storage/sqldb"
)

var _ copies.Board = (*Store)(nil)

// Post implements copies.Board.
func (s *Store) Post(ctx context.Context, c copies.Copy) error {
	return s.db.Write(ctx, uuid.Nil, func(tx sqldb.Tx) error {
		now, err := timeOf(tx)
		if err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM auth_copies WHERE seen < ?", now-copies.Gone.Microseconds()); err != nil {
			return err
		}
		_, err = tx.Exec(tx.Dialect().Upsert("auth_copies", []string{"node"}, []string{"name", "revision", "digest", "at", "seen"}),
			c.Node, c.Name, c.Revision, c.Digest, c.At.UnixMicro(), now)
		return err
	})
}

// timeOf returns the database's time.
func timeOf(q sqldb.Querier) (now int64, err error) {
	_, err = sqldb.One(q, []any{&now}, "SELECT "+q.Dialect().Now())
	return now, err
}

// Copies implements copies.Board.
func (s *Store) Copies(ctx context.Context) (all []copies.Copy, err error) {
	err = s.db.Read(ctx, uuid.Nil, func(q sqldb.Querier) error {
		now, err := timeOf(q)
		if err != nil {
			return err
		}
		all, err = sqldb.All(q, func(rows *sql.Rows) (c copies.Copy, err error) {
			var at, seen int64
			err = rows.Scan(&c.Node, &c.Name, &c.Revision, &c.Digest, &at, &seen)
			c.At, c.Silent = time.UnixMicro(at).UTC(), time.Duration(now-seen)*time.Microsecond
			return c, err
		}, "SELECT node, name, revision, digest, at, seen FROM auth_copies WHERE seen >= ? ORDER BY node", now-copies.Gone.Microseconds())
		return err
	})
	return all, err
}

// Withdraw implements copies.Board.
func (s *Store) Withdraw(ctx context.Context, node string) error {
	return s.db.Write(ctx, uuid.Nil, func(tx sqldb.Tx) error {
		_, err := tx.Exec("DELETE FROM auth_copies WHERE node = ?", node)
		return err
	})
}
