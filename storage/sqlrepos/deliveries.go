package sqlrepos

import (
	"context"
	"database/sql"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/repos"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// BeginDelivery implements repos.Deliveries.
func (s *Store) BeginDelivery(ctx context.Context, org, id uuid.UUID, keys []string, now, stale time.Time,
	most int) (known repos.Delivery, err error) {
	err = s.db.Write(ctx, org, func(tx sqldb.Tx) error {
		known = repos.DeliveryNew
		for _, key := range keys {
			is, err := knownDelivery(tx, org, id, key, stale)
			if err != nil {
				return err
			}
			known = max(known, is)
		}
		if known != repos.DeliveryNew {
			return nil
		}
		if err := checkRoom(tx, org, id, most); err != nil {
			return err
		}
		upsert := tx.Dialect().Upsert("repository_deliveries", []string{"org", "repository", "what"},
			[]string{"noted_at", "done"})
		for _, key := range keys {
			if _, err := tx.Exec(upsert, org.String(), id.String(), key, now.UnixMicro(), 0); err != nil {
				return err
			}
		}
		return nil
	})
	return known, err
}

// knownDelivery says what is known of one key.
func knownDelivery(tx sqldb.Tx, org, id uuid.UUID, key string, stale time.Time) (repos.Delivery, error) {
	var noted, done int64
	found, err := sqldb.One(tx, []any{&noted, &done},
		"SELECT noted_at, done FROM repository_deliveries WHERE org = ? AND repository = ? AND what = ?", org.String(),
		id.String(), key)
	switch {
	case err != nil || !found:
		return repos.DeliveryNew, err
	case done != 0:
		return repos.DeliveryDone, nil
	case noted < stale.UnixMicro():
		return repos.DeliveryNew, nil
	}
	return repos.DeliveryBegun, nil
}

func checkRoom(tx sqldb.Tx, org, id uuid.UUID, most int) error {
	var n int
	_, err := sqldb.One(tx, []any{&n}, `SELECT count(*) FROM (SELECT 1 FROM repository_deliveries WHERE org = ? AND
		repository = ? LIMIT ?) AS kept`, org.String(), id.String(), most)
	if err == nil && n >= most {
		err = fault.New(fault.WebhooksFull, "%d deliveries of this repository are remembered, and no more", most)
	}
	return err
}

// EndDelivery implements repos.Deliveries.
func (s *Store) EndDelivery(ctx context.Context, org, id uuid.UUID, keys []string, done bool) error {
	statement := "DELETE FROM repository_deliveries WHERE org = ? AND repository = ? AND what = ? AND done = 0"
	if done {
		statement = "UPDATE repository_deliveries SET done = 1 WHERE org = ? AND repository = ? AND what = ?"
	}
	return s.db.Write(ctx, org, func(tx sqldb.Tx) error {
		for _, key := range keys {
			if _, err := tx.Exec(statement, org.String(), id.String(), key); err != nil {
				return err
			}
		}
		return nil
	})
}

// ForgetDeliveries implements repos.Deliveries.
func (s *Store) ForgetDeliveries(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	type key struct{ org, repository, what string }
	err = s.db.Write(ctx, uuid.Nil, func(tx sqldb.Tx) error {
		removed = 0
		old, err := sqldb.All(tx, func(rows *sql.Rows) (k key, err error) {
			return k, rows.Scan(&k.org, &k.repository, &k.what)
		}, "SELECT org, repository, what FROM repository_deliveries WHERE noted_at < ? LIMIT ?", before.UnixMicro(), limit)
		if err != nil {
			return err
		}
		for _, k := range old {
			_, err := tx.Exec(`DELETE FROM repository_deliveries WHERE org = ? AND repository = ? AND what = ? AND
				noted_at < ?`, k.org, k.repository, k.what, before.UnixMicro())
			if err != nil {
				return err
			}
			removed++
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}
