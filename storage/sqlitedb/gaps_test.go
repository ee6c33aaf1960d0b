package sqlitedb

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// openGaps makes a database of rows small enough to stand in the B-tree's pages.
func openGaps(t *testing.T) (db *sql.DB, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "test.db")
	file := File{Path: path, ApplicationID: 1, Pragmas: []string{"secure_delete(1)"}}
	held, err := file.Hold()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.Close() })
	db, err = file.OpenWriter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	mustExec(t, db, "CREATE TABLE secrets (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
	mustExec(t, db, "CREATE TABLE kept (text TEXT PRIMARY KEY) WITHOUT ROWID")
	return db, path
}

func mustExec(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// TestClearGaps moves rows about until SQLite has left copies of deleted ones behind, and
// wants them gone, and nothing else changed.
func TestClearGaps(t *testing.T) {
	db, path := openGaps(t)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 400 {
		mustExec(t, db, "INSERT INTO secrets VALUES (?, ?)", i, fmt.Sprintf("SECRET%0*d", 50+random.IntN(500), i))
		mustExec(t, db, "INSERT INTO kept VALUES (?)", fmt.Sprintf("kept %d", random.IntN(1<<30)))
	}
	for _, i := range random.Perm(400) {
		mustExec(t, db, "UPDATE secrets SET text = ? WHERE id = ?", fmt.Sprintf("SECRET%0*d", 50+random.IntN(900), i), i)
	}
	for _, i := range random.Perm(400)[:390] {
		mustExec(t, db, "UPDATE secrets SET text = ? WHERE id = ?", fmt.Sprintf("public%0*d", 50+random.IntN(900), i), i)
	}
	mustExec(t, db, "DELETE FROM secrets WHERE text LIKE 'SECRET%'")
	before := dump(t, db)
	if secretsIn(t, db, path) == 0 {
		t.Fatal("SQLite left nothing behind: the test shows nothing")
	}
	clearAll(t, db)
	if n := secretsIn(t, db, path); n != 0 {
		t.Errorf("the file has %d pieces of what was deleted", n)
	}
	if after := dump(t, db); after != before {
		t.Error("rows have changed")
	}
	var verdict string
	if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity_check: %q, %v", verdict, err)
	}
}

func clearAll(t *testing.T, db *sql.DB) {
	t.Helper()
	transact := func(piece func(context.Context, Querier) error) error {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			return err
		}
		return errors.Join(piece(t.Context(), tx), tx.Commit())
	}
	err := ClearGaps(transact, transact)
	if err != nil {
		t.Fatal(err)
	}
}

// secretsIn counts what a reader of the file finds.
func secretsIn(t *testing.T, db *sql.DB, path string) int {
	t.Helper()
	mustExec(t, db, "PRAGMA wal_checkpoint(TRUNCATE)")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(content, []byte("SECRET"))
}

func dump(t *testing.T, db *sql.DB) string {
	t.Helper()
	var all string
	query := "SELECT (SELECT group_concat(id || text) FROM secrets) || (SELECT group_concat(text) FROM kept)"
	if err := db.QueryRowContext(context.Background(), query).Scan(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestGapOf knows which pages are a B-tree's, and leaves the others alone.
func TestUnusedOf(t *testing.T) {
	page := func(header ...byte) []byte {
		page := bytes.Repeat([]byte{0xff}, 4096)
		copy(page, header)
		return page
	}
	first := page()
	copy(first[fileHeader:], []byte{leafTable, 0, 0, 0, 2, 0x0f, 0xf0})
	// A page whose first free block is at a place, and these: where each is, the next one, its length.
	blocks := func(first uint16, triples ...uint16) []byte {
		page := page(leafTable, byte(first>>8), byte(first), 0, 2, 0x0f, 0xf0)
		for some := range slices.Chunk(triples, 3) {
			binary.BigEndian.PutUint16(page[some[0]:], some[1])
			binary.BigEndian.PutUint16(page[some[0]+2:], some[2])
		}
		return page
	}
	for name, c := range map[string]struct {
		page          []byte
		number, pages int64
		want          int
	}{
		"leaf":              {page(leafTable, 0, 0, 0, 2, 0x0f, 0xf0), 2, 9, 0x0ff0 - 8 - 4},
		"interior":          {page(interiorIndex, 0, 0, 0, 2, 0x0f, 0xf0), 2, 9, 0x0ff0 - 12 - 4},
		"first":             {first, 1, 9, 0x0ff0 - 100 - 8 - 4},
		"free blocks":       {blocks(0x0ff4, 0x0ff4, 0, 12), 2, 9, 0x0ff0 - 8 - 4 + 8},
		"two of them":       {blocks(0x0ff0, 0x0ff0, 0x0ff8, 8, 0x0ff8, 0, 8), 2, 9, 0x0ff0 - 8 - 4 + 4 + 4},
		"a block too long":  {blocks(0x0ff4, 0x0ff4, 0, 13), 2, 9, 0x0ff0 - 8 - 4},
		"a circle of them":  {blocks(0x0ff0, 0x0ff0, 0x0ff0, 8), 2, 9, 0x0ff0 - 8 - 4},
		"full":              {page(leafTable, 0, 0, 0, 2, 0, 12), 2, 9, 0},
		"overflow":          {page(0, 0, 0, 7), 2, 9, 0},
		"perhaps overflow":  {page(leafTable, 0, 0, 0, 2, 0x0f, 0xf0), 2, 0x0d000000, 0},
		"damaged pointers":  {page(leafTable, 0, 0, 0x0f, 0xff, 0x0f, 0xf0), 2, 9, 0},
		"content beyond it": {page(leafTable, 0, 0, 0, 2, 0xff, 0xf0), 2, 9, 0},
	} {
		got := 0
		for _, part := range unusedOf(c.page, c.number, c.pages) {
			got += len(part)
		}
		if got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
}
