package sqlitedb

import (
	"bytes"
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPinned: what is read is the file, and each page is found by its number: all of a range of them would have
// SQLite go through the whole file.
func TestPinned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE t (b BLOB); INSERT INTO t VALUES (randomblob(1000000))"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := File{Path: path}.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(p.Reader(t.Context()))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("read %d bytes of %d: %v", len(got), len(want), err)
	}
	var plan string
	var skip int
	row := p.Conn().QueryRowContext(t.Context(), "EXPLAIN QUERY PLAN "+sqlPage, 1)
	if err := row.Scan(&skip, &skip, &skip, &plan); err != nil || !strings.Contains(plan, "INDEX 1:") {
		t.Errorf("pages are read by %q, %v", plan, err)
	}
}
