package sqlitedb_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast/holdfast/storage/sqlitedb"
	"github.com/holdfast/holdfast/storage/sqlitedb/sqlitetest"
)

// openFile opens a database with one table.
func openFile(t *testing.T, path string) *sqlitedb.Writer {
	t.Helper()
	file := sqlitedb.File{Path: path, ApplicationID: 7}
	held, err := file.Hold()
	if err != nil {
		t.Fatal(err)
	}
	db, err := file.OpenWriter(t.Context())
	if err == nil {
		_, err = db.Exec("PRAGMA application_id = 7; CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, body BLOB)")
	}
	if err != nil {
		t.Fatal(err)
	}
	w, err := sqlitedb.NewWriter(t.Context(), file, held, db, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = w.Close(), held.Close() })
	return w
}

func insert(w *sqlitedb.Writer, size int) error {
	return w.Transact(func(conn *sql.Conn) error {
		_, err := conn.ExecContext(context.Background(), "INSERT INTO notes (body) VALUES (randomblob(?))", size)
		return err
	})
}

// wantNotes counts the notes as the writer sees them, and as a crash would leave them.
func wantNotes(t *testing.T, w *sqlitedb.Writer, path string, want int) {
	t.Helper()
	var got int
	if err := w.Transact(func(conn *sql.Conn) error {
		return conn.QueryRowContext(context.Background(), "SELECT count(*) FROM notes").Scan(&got)
	}); err != nil || got != want {
		t.Errorf("%d notes, %v; want %d", got, err, want)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(path + suffix)
		if err == nil {
			err = os.WriteFile(copied+suffix, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	db, err := sqlitedb.File{Path: copied, ApplicationID: 7}.OpenWriter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT count(*) FROM notes").Scan(&got); err != nil || got != want {
		t.Errorf("after a crash %d notes, %v; want %d", got, err, want)
	}
}

// TestFailedCommitStaysFailed fails the fsync of commits, small and large, once and as often
// as the Writer tries: none of it is there, now or after a crash, and all is well afterwards.
func TestFailedCommitStaysFailed(t *testing.T) {
	for _, size := range []int{10, 500_000} {
		for _, times := range []int64{1, 2, 1 << 30} {
			path := filepath.Join(t.TempDir(), "notes.db")
			w := openFile(t, path)
			if err := insert(w, 10); err != nil {
				t.Fatal(err)
			}
			left := failing(t, w)
			left.Store(times)
			there := 1
			for range 2 {
				err := insert(w, size)
				switch {
				case err != nil && sqlitedb.TroubleOf(err) != sqlitedb.Failing:
					t.Errorf("%v", err)
				case err == nil && left.Load() >= 0:
					t.Error("a commit succeeded without its fsync")
				case err == nil:
					there++
				}
			}
			if times == 1<<30 && there != 1 {
				t.Error("a commit succeeded while all fsyncs failed")
			}
			left.Store(0)
			wantNotes(t, w, path, there)
			if err := insert(w, 10); err != nil {
				t.Fatal(err)
			}
			wantNotes(t, w, path, there+1)
		}
	}
}

// failing makes fsyncs fail, as many as are stored in what it returns.
func failing(t *testing.T, w *sqlitedb.Writer) (left interface {
	Store(int64)
	Load() int64
}) {
	t.Helper()
	err := w.Transact(func(conn *sql.Conn) error {
		left = sqlitetest.FailSyncs(t, conn)
		return errors.New("nothing to commit")
	})
	if err == nil {
		t.Fatal("the error of the work is lost")
	}
	return left
}
