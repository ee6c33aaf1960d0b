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
	return s.db.WriteOwn(ctx, func(tx sqldb.Tx) error {
		now, err := timeOf(tx)
		if err != nil {
			return err
		}
		if _, err = tx.Exec(tx.Dialect().Upsert("auth_copies", []string{"node"},
			[]string{"name", "revision", "digest", "shredded", "at", "seen"}),
			c.Node, c.Name, c.Revision, c.Digest, c.Shredded, c.At.UnixMicro(), now); err != nil {
			return err
		}
		if err := s.mark(tx, markOfCopies+c.Node, markCopy, copyParts(c)); err != nil {
			return err
		}
		gone, err := sqldb.All(tx, scanText, "SELECT node FROM auth_copies WHERE seen < ?",
			now-copies.Forgotten.Microseconds())
		for _, node := range gone {
			if err == nil {
				err = forgetNode(tx, node)
			}
		}
		return err
	})
}

// forgetNode removes a node's rows, by their keys: a range would wait for those of other nodes.
func forgetNode(tx sqldb.Tx, node string) error {
	if _, err := tx.Exec("DELETE FROM auth_copies WHERE node = ?", node); err != nil {
		return err
	}
	_, err := tx.Exec("DELETE FROM auth_marks WHERE what = ?", markOfCopies+node)
	return err
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
			var mark []byte
			err = rows.Scan(&c.Node, &c.Name, &c.Revision, &c.Digest, &c.Shredded, &at, &seen, &mark)
			c.At, c.Silent = time.UnixMicro(at).UTC(), time.Duration(now-seen)*time.Microsecond
			c.Unproven = !s.proven(mark, markCopy, copyParts(c))
			return c, err
		}, "SELECT c.node, c.name, c.revision, c.digest, c.shredded, c.at, c.seen, m.mark FROM auth_copies c "+
			"LEFT JOIN auth_marks m ON m.what = "+q.Dialect().Concat("'"+markOfCopies+"'", "c.node")+
			" WHERE c.seen >= ? ORDER BY c.node",
			now-copies.Forgotten.Microseconds())
		return err
	})
	return all, err
}

// Withdraw implements copies.Board.
func (s *Store) Withdraw(ctx context.Context, node string) error {
	return s.db.WriteOwn(ctx, func(tx sqldb.Tx) error { return forgetNode(tx, node) })
}
