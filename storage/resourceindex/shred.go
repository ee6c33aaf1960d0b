package resourceindex

import (
	"context"
	"database/sql"
	"errors"

	"github.com/google/uuid"
)

// Shred implements resources.Index. What is shown goes out of view first, then all is removed piece
// by piece.
func (x *Index) Shred(ctx context.Context, org uuid.UUID, limit int) (removed int, err error) {
	err = x.transact(ctx, func(t *tx) (err error) {
		removed, err = t.shred(org, limit)
		return err
	})
	return removed, err
}

func (t *tx) shred(org uuid.UUID, limit int) (removed int, err error) {
	var id int64
	if err := t.row(&id, "SELECT id FROM orgs WHERE org = ?", org.String()); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return 0, err
	}
	if removed, err = t.count("UPDATE holdings SET live = 0 WHERE id IN (SELECT id FROM holdings WHERE org = ? AND live "+
		"= 1 LIMIT ?)", id, limit); err != nil || removed > 0 {
		return removed, err
	}
	const some = "SELECT id FROM resources WHERE org = ? ORDER BY type, id LIMIT ?"
	if err := t.row(&removed, "SELECT count(*) FROM ("+some+")", id, limit); err != nil {
		return 0, err
	}
	if removed > 0 {
		return removed, t.removeWhere(some, id, limit)
	}
	if removed, err = t.count("DELETE FROM holdings WHERE id IN (SELECT id FROM holdings WHERE org = ? LIMIT ?)", id,
		limit); err != nil || removed > 0 {
		return removed, err
	}
	return t.count("DELETE FROM orgs WHERE id = ?", id)
}

func (t *tx) count(text string, args ...any) (int, error) {
	s, err := t.stmt(text)
	if err != nil {
		return 0, err
	}
	result, err := s.ExecContext(t.ctx, args...)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}
