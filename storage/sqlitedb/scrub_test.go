package sqlitedb

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// TestScrub deletes rows of all sizes without secure_delete, in small pages and in such as overflow:
// behind it nothing of them is in the files, and all else is as it was.
func TestScrub(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	file := File{Path: path, ApplicationID: 1}
	w, err := NewWriter(t.Context(), Options{File: file})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	readers, err := file.OpenReader()
	if err != nil {
		t.Fatal(err)
	}
	defer readers.Close()
	do := func(query string, args ...any) {
		t.Helper()
		err := w.Submit(t.Context(), Job{Org: uuid.Nil, Run: func(tx *Tx) error {
			_, err := tx.Conn().ExecContext(context.Background(), query, args...)
			return err
		}})
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	do("CREATE TABLE secrets (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
	do("CREATE TABLE kept (text TEXT PRIMARY KEY) WITHOUT ROWID")
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 300 {
		word := "SECRET"
		if i%10 == 0 {
			word = "PUBLIC"
		}
		do("INSERT INTO secrets VALUES (?, ?)", i, strings.Repeat(word, 1+random.IntN(40)*random.IntN(60)))
		do("INSERT INTO kept VALUES (?)", fmt.Sprintf("kept %d", random.IntN(1<<30)))
	}
	do("DELETE FROM secrets WHERE text LIKE 'SECRET%'")
	before := dump(t, readers)
	if secretsInFiles(t, path) == 0 {
		t.Fatal("SQLite left nothing behind: the test shows nothing")
	}
	for range 2 {
		if err := w.Scrub(t.Context(), readers); err != nil {
			t.Fatal(err)
		}
		if n := secretsInFiles(t, path); n != 0 {
			t.Errorf("the files have %d pieces of what was deleted", n)
		}
	}
	if after := dump(t, readers); after != before {
		t.Error("rows have changed")
	}
	var verdict string
	if err := readers.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil ||
		verdict != "ok" {
		t.Errorf("integrity_check: %q, %v", verdict, err)
	}
}

func secretsInFiles(t *testing.T, path string) (n int) {
	t.Helper()
	for _, name := range []string{path, path + "-wal"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		n += bytes.Count(text, []byte("SECRET"))
	}
	return n
}
