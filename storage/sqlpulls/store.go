// Package sqlpulls keeps pull requests in a database of package sqldb. It is a pulls.Store.
package sqlpulls

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/pulls"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// Store is a pulls.Store. Make it with New.
type Store struct{ db *sqldb.DB }

var _ pulls.Store = (*Store)(nil)

// New returns the pull requests of a database, which it shares with others.
func New(db *sqldb.DB) *Store { return &Store{db} }

// one are the conditions and arguments of one pull request.
const one = "org = ? AND repository = ? AND number = ?"

func keyOf(r pulls.Ref) []any { return []any{r.Org.String(), r.Repository, r.Number} }

// Hint implements pulls.Store.
func (s *Store) Hint(ctx context.Context, ref pulls.Ref, at time.Time) error {
	return s.db.Write(ctx, ref.Org, func(tx sqldb.Tx) error {
		due := at.UnixMicro()
		there, err := sqldb.Change(tx, "UPDATE pull_requests SET hints = hints + 1, "+
			"due = CASE WHEN due = 0 OR due > ? THEN ? ELSE due END WHERE "+one, append([]any{due, due}, keyOf(ref)...)...)
		if err != nil || there {
			return err
		}
		_, err = tx.Exec("INSERT INTO pull_requests (org, repository, number, due, hints, claim, claimed, revision, body) "+
			"VALUES (?, ?, ?, ?, 1, '', 0, 0, '{}')", append(keyOf(ref), due)...)
		return err
	})
}

// Due implements pulls.Store.
func (s *Store) Due(ctx context.Context, now time.Time, limit int) (all []pulls.Ref, err error) {
	err = s.db.Read(ctx, uuid.Nil, func(q sqldb.Querier) (err error) {
		all, err = sqldb.All(q, func(rows *sql.Rows) (r pulls.Ref, err error) {
			var org string
			if err = rows.Scan(&org, &r.Repository, &r.Number); err == nil {
				r.Org, err = uuid.Parse(org)
			}
			return r, err
		}, "SELECT org, repository, number FROM pull_requests WHERE due > 0 AND due <= ? AND claimed <= ? "+
			"ORDER BY due, org, repository, number LIMIT ?", now.UnixMicro(), now.UnixMicro(), limit)
		return err
	})
	return all, err
}

// Claim implements pulls.Store.
func (s *Store) Claim(ctx context.Context, ref pulls.Ref, token string, now,
	until time.Time) (p pulls.Pull, hints int64, ok bool, err error) {
	err = s.db.Write(ctx, ref.Org, func(tx sqldb.Tx) error {
		p, hints, ok = pulls.Pull{}, 0, false
		claimed, err := sqldb.Change(tx, "UPDATE pull_requests SET claim = ?, claimed = ? WHERE "+one+
			" AND due > 0 AND due <= ? AND claimed <= ?",
			append(append([]any{token, until.UnixMicro()}, keyOf(ref)...), now.UnixMicro(), now.UnixMicro())...)
		if err != nil || !claimed {
			return err
		}
		var body string
		var revision int64
		if _, err := sqldb.One(tx, []any{&hints, &revision, &body},
			"SELECT hints, revision, body FROM pull_requests WHERE "+one, keyOf(ref)...); err != nil {
			return err
		}
		ok = true
		p, err = parse(ref, revision, body)
		return err
	})
	return p, hints, ok, err
}

// Save implements pulls.Store.
func (s *Store) Save(ctx context.Context, p pulls.Pull, token string) (kept bool, err error) {
	body, err := json.Marshal(p)
	if err != nil {
		return false, err
	}
	err = s.db.Write(ctx, p.Org, func(tx sqldb.Tx) error {
		kept, err = sqldb.Change(tx, "UPDATE pull_requests SET body = ?, revision = revision + 1 WHERE "+one+" AND claim = ?",
			append(append([]any{string(body)}, keyOf(p.Ref)...), token)...)
		return err
	})
	return kept, err
}

// Finish implements pulls.Store.
func (s *Store) Finish(ctx context.Context, ref pulls.Ref, token string, hints int64, now, next time.Time) error {
	due := int64(0)
	if !next.IsZero() {
		due = next.UnixMicro()
	}
	return s.db.Write(ctx, ref.Org, func(tx sqldb.Tx) error {
		_, err := tx.Exec("UPDATE pull_requests SET claim = '', claimed = 0, due = CASE WHEN hints > ? THEN ? ELSE "+
			tx.Dialect().Number()+" END WHERE "+one+" AND claim = ?",
			append(append([]any{hints, now.UnixMicro(), due}, keyOf(ref)...), token)...)
		return err
	})
}

// Settings implements pulls.Store.
func (s *Store) Settings(ctx context.Context, org uuid.UUID, repository string) (set pulls.Settings, err error) {
	err = s.db.Read(ctx, org, func(q sqldb.Querier) error {
		var body string
		there, err := sqldb.One(q, []any{&body}, "SELECT body FROM pull_settings WHERE org = ? AND repository = ?",
			org.String(), repository)
		if err != nil || !there {
			return err
		}
		return json.Unmarshal([]byte(body), &set)
	})
	return set, err
}

// SetSettings implements pulls.Store.
func (s *Store) SetSettings(ctx context.Context, org uuid.UUID, repository string, set pulls.Settings) error {
	body, err := json.Marshal(set)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, org, func(tx sqldb.Tx) error {
		there, err := sqldb.Change(tx, "DELETE FROM pull_settings WHERE org = ? AND repository = ?", org.String(), repository)
		_ = there // another one comes in its place
		if err != nil {
			return err
		}
		_, err = tx.Exec("INSERT INTO pull_settings (org, repository, body) VALUES (?, ?, ?)", org.String(), repository,
			string(body))
		return err
	})
}

// Forget implements pulls.Store.
func (s *Store) Forget(ctx context.Context, org uuid.UUID, repository string) error {
	return s.db.Write(ctx, org, func(tx sqldb.Tx) error {
		for _, table := range []string{"pull_settings", "pull_requests"} {
			query := "DELETE FROM " + table + " WHERE org = ? AND repository = ?"
			if _, err := tx.Exec(query, org.String(), repository); err != nil {
				return err
			}
		}
		return nil
	})
}

// resting are the conditions of what nobody looks at any more.
const resting = "due = 0 AND claim = ''"

// Resting implements pulls.Store.
func (s *Store) Resting(ctx context.Context, after pulls.Ref, limit int) (all []pulls.Pull, err error) {
	org := ""
	if after.Org != uuid.Nil {
		org = after.Org.String()
	}
	err = s.db.Read(ctx, uuid.Nil, func(q sqldb.Querier) (err error) {
		all, err = sqldb.All(q, func(rows *sql.Rows) (pulls.Pull, error) {
			var of, body string
			var ref pulls.Ref
			var revision int64
			if err := rows.Scan(&of, &ref.Repository, &ref.Number, &revision, &body); err != nil {
				return pulls.Pull{}, err
			}
			var err error
			if ref.Org, err = uuid.Parse(of); err != nil {
				return pulls.Pull{}, err
			}
			return parse(ref, revision, body)
		}, "SELECT org, repository, number, revision, body FROM pull_requests WHERE (org, repository, number) > (?, ?, ?) AND "+
			resting+" ORDER BY org, repository, number LIMIT ?", org, after.Repository, after.Number, limit)
		return err
	})
	return all, err
}

// Remove implements pulls.Store.
func (s *Store) Remove(ctx context.Context, p pulls.Pull) (removed bool, err error) {
	err = s.db.Write(ctx, p.Org, func(tx sqldb.Tx) error {
		removed, err = sqldb.Change(tx, "DELETE FROM pull_requests WHERE "+one+" AND revision = ? AND "+resting,
			append(keyOf(p.Ref), p.Revision)...)
		return err
	})
	return removed, err
}

// Pull implements pulls.Store.
func (s *Store) Pull(ctx context.Context, ref pulls.Ref) (p pulls.Pull, there bool, err error) {
	err = s.db.Read(ctx, ref.Org, func(q sqldb.Querier) error {
		var body string
		var revision int64
		there, err = sqldb.One(q, []any{&revision, &body}, "SELECT revision, body FROM pull_requests WHERE "+one,
			keyOf(ref)...)
		if err == nil && there {
			p, err = parse(ref, revision, body)
		}
		return err
	})
	return p, there, err
}

// Pulls implements pulls.Store.
func (s *Store) Pulls(ctx context.Context, org uuid.UUID, repository string, limit int) (all []pulls.Pull, err error) {
	condition, args := "org = ?", []any{org.String()}
	if repository != "" {
		condition, args = condition+" AND repository = ?", append(args, repository)
	}
	err = s.db.Read(ctx, org, func(q sqldb.Querier) (err error) {
		all, err = sqldb.All(q, func(rows *sql.Rows) (pulls.Pull, error) {
			ref, revision, body := pulls.Ref{Org: org}, int64(0), ""
			if err := rows.Scan(&ref.Repository, &ref.Number, &revision, &body); err != nil {
				return pulls.Pull{}, err
			}
			return parse(ref, revision, body)
		}, "SELECT repository, number, revision, body FROM pull_requests WHERE "+condition+
			" ORDER BY number DESC, repository LIMIT ?", append(args, limit)...)
		return err
	})
	return all, err
}

func parse(ref pulls.Ref, revision int64, body string) (pulls.Pull, error) {
	var p pulls.Pull
	err := json.Unmarshal([]byte(body), &p)
	p.Ref, p.Revision = ref, revision
	return p, err
}
