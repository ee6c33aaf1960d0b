package sqlrepos

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/repos"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// Due implements repos.Schedule.
func (s *Store) Due(ctx context.Context, now time.Time, limit int) (all []repos.Repository, err error) {
	type first struct {
		org string
		due int64
	}
	at := now.UnixMicro()
	err = s.db.Ask(ctx, uuid.Nil, func(q sqldb.Querier) error {
		all = nil
		firsts, err := sqldb.All(q, func(rows *sql.Rows) (f first, err error) {
			return f, rows.Scan(&f.org, &f.due)
		}, `SELECT org, MIN(due_at) AS due FROM repositories WHERE due_at <= ? AND claim_until <= ? GROUP BY org
			ORDER BY due, org LIMIT ?`, at, at, limit)
		if err != nil {
			return err
		}
		for _, f := range firsts {
			r, found, err := find(q, "org = ? AND due_at = ? AND claim_until <= ? ORDER BY name LIMIT 1", f.org, f.due, at)
			if err != nil {
				return err
			}
			if found { // nobody has claimed it meanwhile
				all = append(all, r)
			}
		}
		return nil
	})
	return all, err
}

// Extend implements repos.Schedule.
func (s *Store) Extend(ctx context.Context, org, id uuid.UUID, token string, until time.Time) error {
	return s.db.Write(ctx, org, func(tx sqldb.Tx) error {
		_, err := tx.Exec("UPDATE repositories SET claim_until = ? WHERE org = ? AND id = ? AND claim = ? AND claim_until < ?",
			until.UnixMicro(), org.String(), id.String(), token, until.UnixMicro())
		return err
	})
}

// Claim implements repos.Schedule.
func (s *Store) Claim(ctx context.Context, org, id uuid.UUID, token string, now,
	until time.Time) (hints int64, ok bool, err error) {
	err = s.db.Write(ctx, org, func(tx sqldb.Tx) (err error) {
		ok, err = sqldb.Change(tx, `UPDATE repositories SET claim = ?, claim_until = ? WHERE org = ? AND id = ? AND due_at <= ?
			AND claim_until <= ?`, token, until.UnixMicro(), org.String(), id.String(), now.UnixMicro(), now.UnixMicro())
		if err != nil || !ok {
			return err
		}
		_, err = sqldb.One(tx, []any{&hints}, "SELECT hints FROM repositories WHERE org = ? AND id = ?", org.String(),
			id.String())
		return err
	})
	return hints, ok && err == nil, err
}

// Release implements repos.Schedule.
func (s *Store) Release(ctx context.Context) error {
	return s.db.Write(ctx, uuid.Nil, func(tx sqldb.Tx) error {
		_, err := tx.Exec("UPDATE repositories SET claim = '', claim_until = 0 WHERE claim_until > 0")
		return err
	})
}

// Hint implements repos.Schedule.
func (s *Store) Hint(ctx context.Context, org, id uuid.UUID, at time.Time) error {
	return s.db.Write(ctx, org, func(tx sqldb.Tx) error {
		_, err := tx.Exec(`UPDATE repositories SET hints = hints + 1, due_at = CASE WHEN due_at > ? THEN ? ELSE due_at END
			WHERE org = ? AND id = ?`, at.UnixMicro(), at.UnixMicro(), org.String(), id.String())
		return err
	})
}

// Finish implements repos.Schedule.
func (s *Store) Finish(ctx context.Context, f repos.Finished) error {
	status, err := json.Marshal(f.Status)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, f.Org, func(tx sqldb.Tx) error {
		_, err := tx.Exec("UPDATE repositories SET status = ?, tried_at = ? WHERE org = ? AND id = ? AND tried_at <= ?",
			string(status), f.Began.UnixMicro(), f.Org.String(), f.ID.String(), f.Began.UnixMicro())
		if err != nil || f.Token == "" {
			return err
		}
		_, err = tx.Exec(`UPDATE repositories SET due_at = CASE WHEN hints = ? THEN ? ELSE `+tx.Dialect().Number()+` END,
			claim = '', claim_until = 0 WHERE org = ? AND id = ? AND claim = ?`, f.Hints, f.Next.UnixMicro(), f.Soon.UnixMicro(), f.Org.String(),
			f.ID.String(), f.Token)
		return err
	})
}
