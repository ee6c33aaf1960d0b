// Package sqlrepos keeps repositories in a database of package sqldb. It is a repos.Store.
package sqlrepos

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/repos"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlworkspace"
)

// Store is a repos.Store. Make it with New.
type Store struct{ db *sqldb.DB }

var _ repos.Store = (*Store)(nil)

// New returns the repositories of a database.
func New(db *sqldb.DB) *Store { return &Store{db} }

const selectRepositories = `SELECT org, name, id, settings, sealed, revision, created_at, updated_at, updated_by, status
	FROM repositories WHERE `

func scan(row func(...any) error) (r repos.Repository, err error) {
	var org, id, settings, by, status string
	var created, updated int64
	err = row(&org, &r.Name, &id, &settings, &r.Sealed, &r.Revision, &created, &updated, &by, &status)
	if err != nil {
		return r, err
	}
	if r.Org, err = uuid.Parse(org); err != nil {
		return r, err
	}
	if r.ID, err = uuid.Parse(id); err != nil {
		return r, err
	}
	r.CreatedAt, r.UpdatedAt = time.UnixMicro(created).UTC(), time.UnixMicro(updated).UTC()
	for text, into := range map[string]any{settings: &r.Settings, by: &r.UpdatedBy, status: &r.Status} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			return r, err
		}
	}
	return r, nil
}

func scanRow(rows *sql.Rows) (repos.Repository, error) { return scan(rows.Scan) }

func find(q sqldb.Querier, condition string, args ...any) (r repos.Repository, found bool, err error) {
	r, err = scan(q.QueryRow(selectRepositories+condition, args...).Scan)
	if err == sql.ErrNoRows {
		return repos.Repository{}, false, nil
	}
	return r, err == nil, err
}

// one returns what the condition finds.
func (s *Store) one(ctx context.Context, org uuid.UUID, what, condition string,
	args ...any) (r repos.Repository, err error) {
	err = s.db.Ask(ctx, org, func(q sqldb.Querier) error {
		one, found, err := find(q, condition, args...)
		if err == nil && !found {
			err = fault.New(fault.RepositoryNotFound, "there is no repository %.100q", what)
		}
		r = one
		return err
	})
	return r, err
}

// Repository implements repos.Store.
func (s *Store) Repository(ctx context.Context, org uuid.UUID, name string) (repos.Repository, error) {
	return s.one(ctx, org, name, "org = ? AND name = ?", org.String(), name)
}

// ByID implements repos.Store.
func (s *Store) ByID(ctx context.Context, id uuid.UUID) (repos.Repository, error) {
	return s.one(ctx, uuid.Nil, id.String(), "id = ?", id.String())
}

// Repositories implements repos.Store.
func (s *Store) Repositories(ctx context.Context, org uuid.UUID, after string,
	limit int) (all []repos.Repository, err error) {
	err = s.db.Ask(ctx, org, func(q sqldb.Querier) (err error) {
		all, err = sqldb.All(q, scanRow, selectRepositories+"org = ? AND name > ? ORDER BY name LIMIT ?", org.String(), after,
			limit)
		return err
	})
	return all, err
}

// Update implements repos.Store.
func (s *Store) Update(ctx context.Context, org uuid.UUID, name string,
	decide repos.Decide) (now repos.Repository, err error) {
	err = s.db.Write(ctx, org, func(tx sqldb.Tx) error {
		now = repos.Repository{}
		is, found, err := find(tx, "org = ? AND name = ?", org.String(), name)
		if err != nil {
			return err
		}
		var count int
		_, err = sqldb.One(tx, []any{&count}, "SELECT count(*) FROM repositories WHERE org = ?", org.String())
		if err != nil {
			return err
		}
		var given *repos.Repository
		if found {
			copied := is
			given = &copied
		}
		change, err := decide(given, count)
		if err != nil {
			return err
		}
		if err := record(tx, org, name, given, is.ID, change); err != nil {
			return err
		}
		if err := sqlworkspace.AddEvent(tx, change.Audit); err != nil {
			return err
		}
		now, _, err = find(tx, "org = ? AND name = ?", org.String(), name)
		return err
	})
	if err != nil {
		return repos.Repository{}, err
	}
	return now, nil
}

func record(tx sqldb.Tx, org uuid.UUID, name string, is *repos.Repository, id uuid.UUID, change repos.Change) error {
	if change.Put != nil {
		if err := put(tx, org, name, is != nil, *change.Put); err != nil {
			return err
		}
	}
	if !change.Delete || is == nil {
		return nil
	}
	if _, err := tx.Exec("DELETE FROM repositories WHERE org = ? AND name = ?", org.String(), name); err != nil {
		return err
	}
	_, err := tx.Exec("DELETE FROM repository_deliveries WHERE org = ? AND repository = ?", org.String(), id.String())
	return err
}

func put(tx sqldb.Tx, org uuid.UUID, name string, found bool, r repos.Repository) error {
	settings, err := json.Marshal(r.Settings)
	if err != nil {
		return err
	}
	by, err := json.Marshal(r.UpdatedBy)
	if err != nil {
		return err
	}
	at := r.UpdatedAt.UnixMicro()
	if found {
		_, err = tx.Exec(`UPDATE repositories SET settings = ?, sealed = ?, revision = revision + 1, updated_at = ?,
			updated_by = ?, due_at = ?, hints = hints + 1 WHERE org = ? AND name = ?`, string(settings), r.Sealed, at, string(by),
			at, org.String(), name)
		return err
	}
	_, err = tx.Exec(`INSERT INTO repositories (org, name, id, settings, sealed, revision, created_at, updated_at,
		updated_by, status, tried_at, due_at, hints, claim, claim_until) VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, '{}', 0, ?, 0, '', 0)`,
		org.String(), name, r.ID.String(), string(settings), r.Sealed, r.CreatedAt.UnixMicro(), at, string(by), at)
	return err
}
