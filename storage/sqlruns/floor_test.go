package sqlruns_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// floor is the least that the same database can do for the same rows: plain statements on a table
// with the one index that each needs, and nothing that makes runs of them.
type floor struct {
	b    *testing.B
	db   *sql.DB
	org  []byte
	made int
}

// runBytes is about what a run's row has.
const runBytes = 1500

func floorOnSQLite(b *testing.B) *floor {
	file := sqlitedb.File{Path: filepath.Join(b.TempDir(), "floor.db"), ApplicationID: 1,
		Pragmas: []string{"page_size(4096)"}}
	held, err := file.Hold()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = held.Close() })
	db, err := file.OpenWriter(b.Context())
	return newFloor(b, db, err)
}

func floorOnMySQL(b *testing.B) *floor {
	address := mysqltest.FromEnvironment()
	d := mysqltest.New(b)
	if err := address.Exec(b.Context(), "", "CREATE DATABASE `"+d.Name+"`"); err != nil {
		b.Fatal(err)
	}
	db, err := address.Open(d.Name)
	return newFloor(b, db, err)
}

func newFloor(b *testing.B, db *sql.DB, err error) *floor {
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	org := uuid.New()
	f := &floor{b: b, db: db, org: org[:]}
	f.exec(`CREATE TABLE runs (org BINARY(16) NOT NULL, id VARCHAR(26) NOT NULL, status VARCHAR(16) NOT NULL, body BLOB NOT NULL, PRIMARY KEY (org, id))`)
	f.exec(`CREATE INDEX runs_by_status ON runs (status, id)`)
	f.exec(`CREATE TABLE events (org BINARY(16) NOT NULL, run VARCHAR(26) NOT NULL, number INT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (org, run, number))`)
	return f
}

func (f *floor) exec(statement string, args ...any) {
	f.b.Helper()
	if _, err := f.db.ExecContext(f.b.Context(), statement, args...); err != nil {
		f.b.Fatal(err)
	}
}

func floorID(i int) string { return fmt.Sprintf("01J%023d", i) }

// fill makes the table have so many rows.
func (f *floor) fill(n int, status string) {
	for f.made < n {
		count := min(500, n-f.made)
		args := make([]any, 0, 4*count)
		for range count {
			f.made++
			args = append(args, f.org, floorID(f.made), status, strings.Repeat("x", runBytes))
		}
		f.exec("INSERT INTO runs VALUES "+strings.TrimSuffix(strings.Repeat("(?,?,?,?),", count), ","), args...)
	}
}

// claim takes the oldest that waits, and writes down that it did.
func (f *floor) claim() (err error) {
	tx, err := f.db.BeginTx(f.b.Context(), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ignoreDone(tx.Rollback())) }()
	var id string
	if err := tx.QueryRow("SELECT id FROM runs WHERE status = 'pending' ORDER BY id LIMIT 1").Scan(&id); err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE runs SET status = 'preparing', body = ? WHERE org = ? AND id = ?",
		strings.Repeat("y", runBytes), f.org, id); err != nil {
		return err
	}
	if _, err := tx.Exec("INSERT INTO events VALUES (?, ?, 2, ?)", f.org, id, strings.Repeat("z", 200)); err != nil {
		return err
	}
	return tx.Commit()
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// list reads the newest 20.
func (f *floor) list() error {
	return f.read("SELECT body FROM runs WHERE org = ? ORDER BY id DESC LIMIT 20", f.org)
}

// show reads the one in the middle.
func (f *floor) show() error {
	return f.read("SELECT body FROM runs WHERE org = ? AND id = ?", f.org, floorID(f.made/2))
}

func (f *floor) read(query string, args ...any) error {
	rows, err := f.db.QueryContext(context.Background(), query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var body []byte
		if err := rows.Scan(&body); err != nil {
			return err
		}
	}
	return rows.Err()
}
