package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/moving"
)

var _ moving.Database = (*DB)(nil)

// Look implements moving.Database.
func (d *DB) Look(ctx context.Context, fn func(moving.Querier) error) error {
	return d.Ask(ctx, uuid.Nil, func(q Querier) error { return fn(q) })
}

// Change implements moving.Database.
func (d *DB) Change(ctx context.Context, bytes int, fn func(moving.Tx) error) error {
	return d.WriteBytes(ctx, uuid.Nil, bytes, func(tx Tx) error { return fn(tx) })
}

// RowValues implements moving.Database.
func (d *DB) RowValues() bool { return d.Dialect() != MySQL }

// movedTables are those whose rows move with a database, with the column of some that has pieces of
// what is sealed.
func movedTables() []moving.Table {
	var all []moving.Table
	for _, name := range []string{"organizations", "data_keys", "blobs", "workspaces", "variables",
		"organization_variables", "snapshots", "workspace_snapshots", "audit_outbox", "sessions",
		"pull_requests", "layers", "layer_days", "pull_settings", "runs", "run_events",
		"run_lines", "run_queues", "run_turns", "run_tallies", "run_logs", "run_files", "run_uploads", "run_pools",
		"run_agents", "run_changes", "run_changed", "run_days", "run_troubles", "repositories",
		"repository_deliveries", "policies"} {
		all = append(all, moving.Table{Name: name})
	}
	return append(all, moving.Table{Name: "blob_pieces", Body: "body"},
		moving.Table{Name: "run_log_pieces", Body: "sealed"}, moving.Table{Name: "run_file_pieces", Body: "sealed"})
}

// ownTables are those whose rows don't move with the others: what nodes tell one another, and what a
// server that keeps everything in a folder has in files of its own.
func ownTables() []string {
	return []string{"auth_revisions", "auth_pieces", "auth_copies", "auth_marks", "outcomes", "node_turns", "key_uses",
		"notices", "notice_position"}
}

// sealMarks tell pieces of what is sealed apart: each has a nonce of its own.
func sealMarks(body string) []moving.Column {
	return []moving.Column{{Name: "length(" + body + ")", Kind: moving.Int},
		{Name: "substr(" + body + ", 1, 48)", Kind: moving.Bytes}}
}

// Shapes say how the database keeps workspaces and runs: their columns are those that the database
// says, in the order of their names.
func (d *DB) Shapes(ctx context.Context) (all []moving.Shape, err error) {
	return ShapesOf(ctx, d, d.Dialect())
}

// ShapesOf are those of a database that somebody else has opened.
func ShapesOf(ctx context.Context, db moving.Database, in Dialect) (all []moving.Shape, err error) {
	for _, table := range movedTables() {
		shape, err := shapeOf(ctx, db, in, table)
		if err != nil {
			return nil, err
		}
		all = append(all, shape)
	}
	return all, nil
}

// column is one that the database says.
type column struct {
	name, kind string
	key        int // its place in the primary key, from 1
}

func shapeOf(ctx context.Context, db moving.Database, in Dialect, table moving.Table) (moving.Shape, error) {
	var columns []column
	err := db.Look(ctx, func(q moving.Querier) (err error) {
		columns, err = All(q, func(rows *sql.Rows) (c column, err error) {
			return c, rows.Scan(&c.name, &c.kind, &c.key)
		}, sqlColumns(in), table.Name)
		return err
	})
	if err != nil {
		return moving.Shape{}, err
	}
	slices.SortFunc(columns, func(a, b column) int { return strings.Compare(a.name, b.name) })
	keys := map[int]moving.Column{}
	for _, c := range columns {
		switch one := (moving.Column{Name: c.name, Kind: kindOf(c.kind)}); {
		case c.key > 0:
			keys[c.key] = one
		case c.name != table.Body:
			table.Rest = append(table.Rest, one)
		}
	}
	for i := range len(keys) {
		table.Key = append(table.Key, keys[i+1])
	}
	if len(keys) == 0 {
		return moving.Shape{}, fmt.Errorf("the table %s has no key", table.Name)
	}
	shape := moving.Shape{Table: table, Into: table.Name}
	if table.Body != "" {
		shape.Marks = sealMarks(table.Body)
	}
	return shape, nil
}

func sqlColumns(d Dialect) string {
	if d == SQLite {
		return "SELECT name, type, pk FROM pragma_table_info(?)"
	}
	if d == Postgres {
		return `SELECT c.column_name, c.data_type, coalesce((SELECT k.ordinal_position FROM
			information_schema.key_column_usage k JOIN information_schema.table_constraints t
				ON t.constraint_name = k.constraint_name AND t.constraint_schema = k.constraint_schema
			WHERE t.constraint_type = 'PRIMARY KEY' AND k.table_schema = c.table_schema AND k.table_name = c.table_name
				AND k.column_name = c.column_name), 0)
			FROM information_schema.columns c WHERE c.table_schema = current_schema() AND c.table_name = ?`
	}
	return `SELECT c.column_name, c.data_type, ifnull(k.seq_in_index, 0) FROM information_schema.columns c
		LEFT JOIN information_schema.statistics k ON k.table_schema = c.table_schema AND k.table_name = c.table_name
			AND k.column_name = c.column_name AND k.index_name = 'PRIMARY'
		WHERE c.table_schema = DATABASE() AND c.table_name = ?`
}

// kindOf is what a column of a declared type holds. Which of SQLite's texts are MySQL's bytes makes no
// difference to records.
func kindOf(declared string) moving.Kind {
	switch strings.ToLower(declared) {
	case "integer", "bigint", "int", "tinyint":
		return moving.Int
	case "text", "char", "varchar", "mediumtext", "longtext":
		return moving.Text
	}
	return moving.Bytes
}

// Freeze implements sqlitedb.Freezer. A database that others write to can't be frozen.
func (d *DB) Freeze(ctx context.Context) (thaw func(), err error) {
	e, ok := d.engine.(*sqlite)
	if !ok || e.writer == nil {
		return nil, errors.New("sqldb: the database is not this process's alone")
	}
	return e.writer.Freeze(ctx)
}
