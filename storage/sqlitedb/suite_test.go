package sqlitedb_test

import (
	"context"
	"database/sql"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/sqlitedb"
	"github.com/holdfast/holdfast/storage/sqlitedb/sqlitetest"
)

// notes is the least that can be built on a Writer.
type notes struct {
	*sqlitedb.Writer
	file sqlitedb.File
}

// openNotes opens a database with one table.
func openNotes(dir string, change func(*sqlitedb.Options)) (*notes, error) {
	file := sqlitedb.File{Path: filepath.Join(dir, "notes.db"), ApplicationID: 7}
	o := sqlitedb.Options{File: file, Log: slog.New(slog.DiscardHandler), Migrate: migrate}
	if change != nil {
		change(&o)
	}
	w, err := sqlitedb.NewWriter(context.Background(), o)
	return &notes{w, file}, err
}

func migrate(ctx context.Context, db *sql.DB, _ *slog.Logger) error {
	_, err := db.ExecContext(ctx, `PRAGMA application_id = 7;
		CREATE TABLE IF NOT EXISTS notes (name TEXT NOT NULL UNIQUE, body BLOB NOT NULL)`)
	return err
}

// insert returns a job's work that adds a note.
func insert(name string, bytes int) func(*sqlitedb.Tx) error {
	return func(t *sqlitedb.Tx) error {
		_, err := t.Exec("INSERT INTO notes (name, body) VALUES (?, randomblob(?))", name, bytes)
		return err
	}
}

// Record implements sqlitetest.Store.
func (n *notes) Record(name string, bytes int) error {
	return n.Submit(context.Background(), sqlitedb.Job{Org: uuid.UUID{name[len(name)-1]}, Run: insert(name, bytes)})
}

// Recorded implements sqlitetest.Store.
func (n *notes) Recorded() (names []string, err error) {
	db, err := n.file.OpenReader()
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.Query("SELECT name FROM notes")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

func engine() sqlitetest.Engine {
	return sqlitetest.Engine{
		Open:     func(dir string) (sqlitetest.Store, error) { return openNotes(dir, nil) },
		Database: "notes.db",
	}
}

func TestMain(m *testing.M) {
	sqlitetest.ChildMain(engine())
	os.Exit(m.Run())
}

// TestWhenThingsGoWrong runs the suite over the Writer itself.
func TestWhenThingsGoWrong(t *testing.T) { sqlitetest.Run(t, engine()) }
