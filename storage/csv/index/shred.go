package index

import (
	"context"
	"database/sql"
	"errors"

	"github.com/google/uuid"
)

// shredJournal is how many rows of the journal one transaction removes: they have bytes of the file.
const shredJournal = 2

// Shred forgets all of an organization, in pieces of at most limit rows, and returns how many went.
// With the last of them goes what says that there is such an organization.
func (x *Index) Shred(org uuid.UUID, limit int) (removed int64, err error) {
	err = x.do(org, func(t tx) error {
		var id int64
		err := t.QueryRow("SELECT id FROM orgs WHERE org = ?", org.String()).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			removed = 0
			return nil
		}
		if err != nil {
			return err
		}
		removed, err = t.shred(id, limit)
		return err
	})
	if removed > 0 {
		x.dirt.Add()
	}
	return removed, err
}

func (t tx) shred(id int64, limit int) (removed int64, err error) {
	for _, some := range []struct {
		text  string
		limit int
	}{
		{"DELETE FROM journal WHERE org = ?1 AND start IN (SELECT start FROM journal WHERE org = ?1 LIMIT ?2)",
			min(limit, shredJournal)},
		{"DELETE FROM segments WHERE org = ?1 AND start IN (SELECT start FROM segments WHERE org = ?1 LIMIT ?2)", limit},
		{"DELETE FROM batches WHERE seq IN (SELECT seq FROM batches WHERE org = ?1 LIMIT ?2)", limit},
		{`DELETE FROM groups WHERE org = ?1 AND (provider, category, resource_type) IN
			(SELECT provider, category, resource_type FROM groups WHERE org = ?1 LIMIT ?2)`, limit},
		{"DELETE FROM orgs WHERE id IN (SELECT id FROM orgs WHERE id = ?1 LIMIT ?2)", limit},
	} {
		result, err := t.Exec(some.text, id, some.limit)
		if err != nil {
			return 0, err
		}
		if n, err := result.RowsAffected(); err != nil || n > 0 {
			return n, err
		}
	}
	return 0, nil
}

// Scrub makes sure that nothing of what Shred has removed is left in the database's files.
func (x *Index) Scrub(ctx context.Context) error {
	return x.dirt.Clear(func() error { return storeError(x.writer.Scrub(ctx, x.readers)) })
}
