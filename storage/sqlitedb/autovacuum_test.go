package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
)

// setAutoVacuum does what an operator may do with a file that is not open.
func setAutoVacuum(t *testing.T, path, mode string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	mustExec(t, db, "PRAGMA auto_vacuum = "+mode)
	mustExec(t, db, "VACUUM")
}

// fillPages makes so many that the second pointer-map page begins with one that is not a root,
// and whose parent has a small number: so it looks like a page of rows with a gap.
func fillPages(t *testing.T, db *sql.DB) {
	t.Helper()
	mustExec(t, db, "CREATE TABLE more (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
	for table, rows := range map[string]int{"secrets": 700, "more": 300} {
		mustExec(t, db, `INSERT INTO `+table+` WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			SELECT i, printf('SECRET%03000d', i) FROM n`, rows)
	}
}

func wantIntegrity(t *testing.T, db *sql.DB) {
	t.Helper()
	var verdict string
	if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity_check: %q, %v", verdict, err)
	}
}

// TestAutoVacuumIsRefused sets it on a stopped file, so that the database has pointer-map
// pages, and takes it back.
func TestAutoVacuumIsRefused(t *testing.T) {
	for _, mode := range []string{"FULL", "INCREMENTAL"} {
		db, path := openGaps(t)
		fillPages(t, db)
		mustExec(t, db, "DELETE FROM secrets WHERE id % 3 = 0")
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		file := File{Path: path, ApplicationID: 0, Pragmas: []string{"secure_delete(1)"}}
		setAutoVacuum(t, path, mode)
		if _, err := file.OpenWriter(t.Context()); err == nil ||
			!strings.Contains(err.Error(), "auto_vacuum = NONE; VACUUM;") {
			t.Fatalf("%s: %v, want what to do", mode, err)
		}
		setAutoVacuum(t, path, "NONE")
		db, err := file.OpenWriter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		clearAll(t, db)
		wantIntegrity(t, db)
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAutoVacuumSetSince has it set while the file is open: the pages stay as they are.
func TestAutoVacuumSetSince(t *testing.T) {
	db, path := openGaps(t)
	fillPages(t, db)
	setAutoVacuum(t, path, "FULL")
	transact := func(piece func(context.Context, Querier) error) error {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			return err
		}
		return errors.Join(piece(t.Context(), tx), tx.Commit())
	}
	if err := ClearGaps(transact, transact); err == nil || !strings.Contains(err.Error(), "auto_vacuum") {
		t.Errorf("%v, want a refusal", err)
	}
	wantIntegrity(t, db)
}
