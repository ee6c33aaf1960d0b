package sqldb

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"
)

// shredTable is a table that has rows of organizations, with its key and how many of its rows one
// transaction removes: those of pieces may be large.
type shredTable struct {
	name string
	key  string
	most int
}

// shredPieces is how many pieces of sealed things one transaction removes.
const shredPieces = 8

// shredTables are all that have rows of organizations, in the order in which they are emptied: first
// the keys without which nothing that is sealed can be read, then what lets agents in. Blobs are
// between them and the rest (see shredBlobs), and organizations come last.
func shredTables() []shredTable {
	return []shredTable{
		{name: "data_keys", key: "org, number"},
		{name: "run_agents", key: "id"},
		{name: "run_pools", key: "org, name"},
		{name: "run_queues", key: "pool, org, priority"},
		{name: "run_lines", key: "org, workspace"},
		{name: "repositories", key: "org, name"},
		{name: "repository_deliveries", key: "org, repository, what"},
		{name: "variables", key: "org, workspace, kind, name"},
		{name: "run_log_pieces", key: "org, run, stream, attempt, start", most: shredPieces},
		{name: "run_file_pieces", key: "org, run, kind, attempt, piece", most: shredPieces},
		{name: "run_logs", key: "org, run, stream, attempt"},
		{name: "run_files", key: "org, run, kind, attempt"},
		{name: "run_uploads", key: "org, run, kind, attempt"},
		{name: "run_events", key: "org, run, sequence"},
		{name: "runs", key: "org, id", most: 5 * shredPieces},
		{name: "run_turns", key: "pool, org"},
		{name: "run_tallies", key: "org"},
		{name: "run_changes", key: "org, number"},
		{name: "run_changed", key: "org"},
		{name: "run_days", key: "org, day, status"},
		{name: "run_troubles", key: "org, workspace, trouble"},
		{name: "workspace_snapshots", key: "org, workspace, number"},
		{name: "snapshots", key: "org, id"},
		{name: "layers", key: "org, name"},
		{name: "layer_days", key: "org, day, layer"},
		{name: "workspaces", key: "org, name"},
		{name: "organization_variables", key: "org"},
		{name: "policies", key: "org, workspace, name, version", most: 5 * shredPieces},
		{name: "sessions", key: "org, hash"},
		{name: "pull_requests", key: "org, repository, number"},
		{name: "pull_settings", key: "org, repository"},
		{name: "audit_outbox", key: "id"},
		{name: "key_uses", key: "org, key_id"},
		{name: "notices", key: "org, sequence, at"},
	}
}

// Shred destroys all that is kept of an organization: the keys that its things are sealed with,
// workspaces, variables, configurations, runs with their logs and files, pools and agents. It is for
// an organization that nobody is let in for any more. Each call is one bounded transaction, in which at
// most limit rows go; removed is how many did. When it is 0, nothing of the organization is left in
// any table, nor in the files of a database that is one. It may be stopped anywhere and called
// again, and changes nothing of any other organization. What others' rows say of the organization is
// not looked at: that a pool of theirs is lent to it runs.Store.EndGrants ends.
func (d *DB) Shred(ctx context.Context, org uuid.UUID, limit int) (removed int, err error) {
	if org == uuid.Nil {
		return 0, errors.New("sqldb: the store's own rows are nobody's to shred")
	}
	err = d.Write(ctx, org, func(tx Tx) (err error) {
		removed, err = shred(tx, org, limit)
		return err
	})
	if err != nil {
		return 0, err
	}
	if removed > 0 {
		d.Deleted()
		return removed, nil
	}
	return 0, d.Scrub(ctx)
}

// Deleted notes that something was deleted that has to be out of the files once the database is scrubbed.
func (d *DB) Deleted() { d.dirt.Add() }

// Scrub leaves nothing in the files of a database that is one of what was deleted, unless that was done since.
func (d *DB) Scrub(ctx context.Context) error {
	return d.dirt.Clear(func() error { return d.engine.explain(d.engine.scrub(ctx)) })
}

// shred removes a piece of the first table that has something.
func shred(tx Tx, org uuid.UUID, limit int) (removed int, err error) {
	for _, table := range shredTables() {
		most := limit
		if table.most > 0 {
			most = min(most, table.most)
		}
		n, err := Count(tx, tx.Dialect().deleteSome(table), table.args(tx.Dialect(), org, most)...)
		if err != nil || n > 0 {
			return int(n), err
		}
	}
	if removed, err = shredBlobs(tx, org, limit); err != nil || removed > 0 {
		return removed, err
	}
	// It doesn't count: on a server the transaction itself has made one, to have others wait.
	_, err = tx.Exec("DELETE FROM organizations WHERE org = ?", org.String())
	return 0, err
}

// deleteSome returns a statement that removes some of an organization's rows: its arguments are those
// of args.
func (d Dialect) deleteSome(t shredTable) string {
	if d == MySQL {
		return "DELETE FROM " + t.name + " WHERE org = ? LIMIT ?"
	}
	key := t.key
	if strings.Contains(key, ",") {
		key = "(" + key + ")"
	}
	return "DELETE FROM " + t.name + " WHERE org = ? AND " + key + " IN (SELECT " + t.key + " FROM " + t.name +
		" WHERE org = ? LIMIT ?)"
}

func (t shredTable) args(d Dialect, org uuid.UUID, most int) []any {
	if d == MySQL {
		return []any{org.String(), most}
	}
	return []any{org.String(), org.String(), most}
}

// shredBlobs removes blobs, each after its pieces.
func shredBlobs(tx Tx, org uuid.UUID, limit int) (removed int, err error) {
	left := min(limit, shredPieces)
	for left > 0 {
		var id string
		found, err := One(tx, []any{&id}, "SELECT id FROM blobs WHERE org = ? LIMIT 1", org.String())
		if err != nil || !found {
			return removed, err
		}
		query, args := "DELETE FROM blob_pieces WHERE blob_id = ? LIMIT ?", []any{id, left}
		if tx.Dialect() != MySQL {
			query, args = "DELETE FROM blob_pieces WHERE blob_id = ? AND piece IN (SELECT piece FROM blob_pieces WHERE "+
				"blob_id = ? LIMIT ?)", []any{id, id, left}
		}
		n, err := Count(tx, query, args...)
		if err != nil {
			return removed, err
		}
		removed, left = removed+int(n), left-int(n)
		if left == 0 {
			break
		}
		if _, err := tx.Exec("DELETE FROM blobs WHERE id = ?", id); err != nil {
			return removed, err
		}
		removed, left = removed+1, left-1
	}
	return removed, nil
}
