package schema

import (
	"database/sql"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite"
)

func openDatabase(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// made returns all that a database is made of, as it was written.
func made(t *testing.T, db *sql.DB) (all []string) {
	t.Helper()
	rows, err := db.Query("SELECT type || ' ' || name || ': ' || coalesce(sql, '') FROM sqlite_schema ORDER BY type, name")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

// Every schema of this program for SQLite is, to the letter, what goose makes of the same files, and a
// database that goose has made has nothing left to do.
func TestStepsAreThoseOfGoose(t *testing.T) {
	var folders []string
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "00100_baseline.sql" {
			folders = append(folders, filepath.Dir(path))
		}
		return err
	})
	if err != nil || len(folders) < 8 {
		t.Fatalf("the folders are %v, %v", folders, err)
	}
	for _, folder := range folders {
		ours, err := readSteps(os.DirFS(folder))
		if err != nil || len(ours) == 0 {
			t.Fatalf("%s: %d steps, %v", folder, len(ours), err)
		}
		if ours[0].alone { // of a MySQL-protocol server, whose engine's tests run it
			continue
		}
		own, goosed := openDatabase(t), openDatabase(t)
		s := Schema{Steps: os.DirFS(filepath.Dir(folder)), Folder: filepath.Base(folder), Dialect: goose.DialectSQLite3}
		if err := s.Migrate(t.Context(), own, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatalf("%s: %v", folder, err)
		}
		provider, err := goose.NewProvider(goose.DialectSQLite3, goosed, os.DirFS(folder),
			goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := provider.Up(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(made(t, goosed), made(t, own)); diff != "" {
			t.Errorf("%s (-goose +ours):\n%s", folder, diff)
		}
		if pending, err := mustProvider(t, s, goosed).HasPending(t.Context()); err != nil || pending {
			t.Errorf("%s: what goose has made has steps left: %v, %v", folder, pending, err)
		}
		if pending, err := provider.HasPending(t.Context()); err != nil || pending {
			t.Errorf("%s: what goose has made has steps left for goose: %v, %v", folder, pending, err)
		}
	}
}

func mustProvider(t *testing.T, s Schema, db *sql.DB) *goose.Provider {
	t.Helper()
	steps, err := s.steps()
	if err != nil {
		t.Fatal(err)
	}
	provider, err := s.provider(db, steps)
	if err != nil {
		t.Fatal(err)
	}
	return provider
}

func TestParseStep(t *testing.T) {
	for text, want := range map[string]step{
		"-- +goose Up\nA;\n-- why\nB\n  -- inside\n C; -- behind; it\n\n": {statements: []string{"A;", "B\n  -- inside\n C;" +
			" -- behind; it"}},
		"-- +goose NO TRANSACTION\n-- +goose Up\nA (';'\n);\n": {alone: true, statements: []string{"A (';'\n);"}},
		"-- +goose Up\n-- +goose StatementBegin\nA;\nB;\nEND\n-- +goose StatementEnd\nC;\n-- +goose Down\nDROP;\n": {
			statements: []string{"A;\nB;\nEND", "C;"}},
	} {
		got, err := parseStep(text)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(step{})); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"A;\n", "-- +goose Up\nA\n", "-- +goose Up\n-- +goose ENVSUB ON\nA;\n",
		"-- +goose Up\nA\n-- +goose Down\nB;\n"} {
		if got, err := parseStep(text); err == nil {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}

// A step fails as a whole, and the next start does it from the beginning.
func TestStepThatFails(t *testing.T) {
	db := openDatabase(t)
	files := fstest.MapFS{
		"migrations/00001_a.sql": {Data: []byte("-- +goose Up\nCREATE TABLE a (x);\n")},
		"migrations/00002_b.sql": {Data: []byte("-- +goose Up\nCREATE TABLE b (x);\nCREATE TABLE a (x);\n")},
	}
	s := Schema{Steps: files, Dialect: goose.DialectSQLite3}
	if err := s.Migrate(t.Context(), db, slog.New(slog.DiscardHandler)); err == nil ||
		!strings.Contains(err.Error(), "from 0 to 2") {
		t.Fatalf("it says %v", err)
	}
	if all := strings.Join(made(t, db), "\n"); !strings.Contains(all, "table a:") || strings.Contains(all, "table b:") {
		t.Errorf("there is\n%s", all)
	}
	files["migrations/00002_b.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\nCREATE TABLE b (x);\n")}
	if err := s.Migrate(t.Context(), db, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
}

// A database from before the baseline is left as it is, and the one sentence about it says what to do.
func TestBeforeBaseline(t *testing.T) {
	db := openDatabase(t)
	old := Schema{Dialect: goose.DialectSQLite3, Steps: fstest.MapFS{
		"migrations/00001_a.sql": {Data: []byte("-- +goose Up\nCREATE TABLE a (x);\n")},
		"migrations/00012_b.sql": {Data: []byte("-- +goose Up\nCREATE TABLE b (x);\n")},
	}}
	if err := old.Migrate(t.Context(), db, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	before := made(t, db)
	now := Schema{Dialect: goose.DialectSQLite3, Steps: fstest.MapFS{
		"migrations/00100_baseline.sql": {Data: []byte("-- +goose Up\nCREATE TABLE c (x);\n")},
		"migrations/00101_d.sql":        {Data: []byte("-- +goose Up\nCREATE TABLE d (x);\n")},
	}}
	err := now.Migrate(t.Context(), db, slog.New(slog.DiscardHandler))
	for _, want := range []string{"its schema is at 12", "begin at 100", `"holdfast export"`, `"holdfast import export"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
	if diff := cmp.Diff(before, made(t, db)); diff != "" {
		t.Errorf("the database was changed:\n%s", diff)
	}
	if newest, err := now.Newest(); err != nil || newest != 101 {
		t.Errorf("the newest is %d, %v", newest, err)
	}
}
