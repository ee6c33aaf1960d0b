package sqlite

import (
	"context"
	"database/sql/driver"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/holdfast/holdfast/fault"
)

// TestWALWithoutDatabase opens a WAL whose database is gone: SQLite would delete it.
func TestWALWithoutDatabase(t *testing.T) {
	s, _ := opened(t)
	ref := newRef("kept")
	mustPut(t, s, ref, []byte("{}"))
	content := map[string][]byte{}
	for _, name := range []string{databaseName, databaseName + "-wal"} {
		content[name] = readFile(t, filepath.Join(filepath.Dir(s.path), name))
	}
	for name, lose := range map[string]func(path string) error{
		"missing": os.Remove,
		"empty":   func(path string) error { return os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, databaseName)
			for name, bytes := range content {
				writeFile(t, filepath.Join(dir, name), bytes)
			}
			if err := lose(path); err != nil {
				t.Fatal(err)
			}
			wantRefused(t, dir, "state.db is missing or empty")
			if left := readFile(t, path+"-wal"); !slices.Equal(left, content[databaseName+"-wal"]) {
				t.Error("the WAL was changed")
			}
			if _, err := os.Stat(path); name == "missing" && !os.IsNotExist(err) {
				t.Errorf("a database was made (%v)", err)
			}
			writeFile(t, path, content[databaseName])
			s := open(t, dir)
			defer s.Close()
			wantBody(t, s, ref, []byte("{}"))
		})
	}
}

// TestReplacedWhileDisconnected puts another file in the database's place when the
// connection has to be opened again.
func TestReplacedWhileDisconnected(t *testing.T) {
	s, _ := opened(t)
	path, ref := s.path, newRef("replaced")
	mustPut(t, s, ref, []byte("{}"))
	conn := s.session.conn
	broken := func(*session) error { return driver.ErrBadConn }
	wantFault(t, s.submit(context.Background(), server(), 0, broken), fault.StoreUnavailable)
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, nil)
	_, err := put(s, ref, []byte("[]"))
	wantFault(t, err, fault.StoreUnavailable)
	if left := readFile(t, path); len(left) > 0 {
		t.Errorf("%d bytes were written to the other file", len(left))
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	mustPut(t, s, ref, []byte("[]"))
	if s.session.conn == conn {
		t.Fatal("the connection was kept")
	}
}

// TestTryDisk leaves nothing behind.
func TestTryDisk(t *testing.T) {
	s, _ := opened(t)
	mustPut(t, s, newRef("trial"), []byte("{}"))
	if err := s.tryDisk(); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(s.path), trialName+"*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
