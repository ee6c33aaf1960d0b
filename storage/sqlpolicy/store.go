// Package sqlpolicy keeps bundles of policies in a database of package sqldb. It is a policy.Store.
package sqlpolicy

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/insight/policy"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlworkspace"
)

// Store is a policy.Store. Make it with New.
type Store struct{ db *sqldb.DB }

var _ policy.Store = (*Store)(nil)

// New returns the bundles of a database.
func New(db *sqldb.DB) *Store { return &Store{db} }

// Update implements policy.Store.
func (s *Store) Update(ctx context.Context, ref policy.Ref, decide policy.Decide) (now policy.Bundle, err error) {
	err = s.db.Write(ctx, ref.Org, func(tx sqldb.Tx) error {
		now = policy.Bundle{}
		versions, err := versionsOf(tx, ref, 1)
		if err != nil {
			return err
		}
		var newest *policy.Bundle
		if len(versions) > 0 {
			now = versions[0]
			newest = &versions[0]
		}
		bundles := 0
		if _, err := sqldb.One(tx, []any{&bundles},
			"SELECT count(*) FROM (SELECT DISTINCT workspace, name FROM policies WHERE org = ?) d", ref.Org.String()); err != nil {
			return err
		}
		change, err := decide(newest, bundles)
		if err != nil {
			return err
		}
		if now, err = record(tx, ref, now, change); err != nil {
			return err
		}
		return sqlworkspace.AddEvent(tx, change.Event)
	})
	return now, err
}

// record carries a change out, and returns what is the newest version then.
func record(tx sqldb.Tx, ref policy.Ref, now policy.Bundle, change policy.Change) (policy.Bundle, error) {
	if change.Remove {
		_, err := tx.Exec("DELETE FROM policies WHERE org = ? AND workspace = ? AND name = ?", keyOf(ref)...)
		return policy.Bundle{}, err
	}
	if change.Put == nil {
		return now, nil
	}
	about, err := json.Marshal(change.Put)
	if err != nil {
		return now, err
	}
	made := *change.Put
	made.Ref, made.Version = ref, now.Version+1
	if _, err := tx.Exec("INSERT INTO policies (org, workspace, name, version, about, files) VALUES (?, ?, ?, ?, ?, ?)",
		append(keyOf(ref), made.Version, string(about), change.Files)...); err != nil {
		return now, err
	}
	_, err = tx.Exec("DELETE FROM policies WHERE org = ? AND workspace = ? AND name = ? AND version <= ?",
		append(keyOf(ref), made.Version-policy.MaxVersions)...)
	return made, err
}

func keyOf(ref policy.Ref) []any { return []any{ref.Org.String(), ref.Workspace, ref.Name} }

// List implements policy.Store.
func (s *Store) List(ctx context.Context, org uuid.UUID, workspaces ...string) (all []policy.Bundle, err error) {
	where, args := "p.org = ?", []any{org.String()}
	if len(workspaces) > 0 {
		where += " AND p.workspace IN (" + sqldb.Places(len(workspaces)) + ")"
		for _, name := range workspaces {
			args = append(args, name)
		}
	}
	err = s.db.Read(ctx, org, func(q sqldb.Querier) (err error) {
		all, err = sqldb.All(q, scanOf(org), `SELECT p.workspace, p.name, p.version, p.about FROM policies p WHERE `+where+`
			AND p.version = (SELECT max(n.version) FROM policies n WHERE n.org = p.org AND n.workspace = p.workspace AND
				n.name = p.name) ORDER BY p.workspace, p.name`, args...)
		return err
	})
	return all, err
}

// Versions implements policy.Store.
func (s *Store) Versions(ctx context.Context, ref policy.Ref) (all []policy.Bundle, err error) {
	err = s.db.Read(ctx, ref.Org, func(q sqldb.Querier) (err error) {
		all, err = versionsOf(q, ref, policy.MaxVersions)
		return err
	})
	if err == nil && len(all) == 0 {
		err = policy.NotFound(ref, 0)
	}
	return all, err
}

func versionsOf(q sqldb.Querier, ref policy.Ref, limit int) ([]policy.Bundle, error) {
	return sqldb.All(q, scanOf(ref.Org), "SELECT workspace, name, version, about FROM policies WHERE org = ? AND workspace = ? "+
		"AND name = ? ORDER BY version DESC LIMIT ?", append(keyOf(ref), limit)...)
}

func scanOf(org uuid.UUID) func(rows *sql.Rows) (policy.Bundle, error) {
	return func(rows *sql.Rows) (b policy.Bundle, err error) {
		var about string
		b.Org = org
		if err := rows.Scan(&b.Workspace, &b.Name, &b.Version, &about); err != nil {
			return b, err
		}
		return b, json.Unmarshal([]byte(about), &b)
	}
}

// Files implements policy.Store.
func (s *Store) Files(ctx context.Context, ref policy.Ref, version int64) (files []byte, err error) {
	err = s.db.Read(ctx, ref.Org, func(q sqldb.Querier) error {
		found, err := sqldb.One(q, []any{&files},
			"SELECT files FROM policies WHERE org = ? AND workspace = ? AND name = ? AND version = ?",
			append(keyOf(ref), version)...)
		if err == nil && !found {
			err = policy.NotFound(ref, version)
		}
		return err
	})
	return files, err
}
