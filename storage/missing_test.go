package storage_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/folder"
)

// missingWorld is a data folder with files that stand for databases.
type missingWorld struct {
	*testing.T
	settings configs.Settings
}

func newMissingWorld(t *testing.T) missingWorld {
	var s configs.Settings
	s.Storage.Path, s.Storage.Type = filepath.Join(t.TempDir(), "data"), configs.CSV
	s.State.Storage, s.Runs.Storage = configs.SQLite, configs.SQLite
	return missingWorld{t, s}
}

func (w missingWorld) path(name string) string { return filepath.Join(w.settings.Storage.Path, name) }

func (w missingWorld) put(names ...string) {
	w.Helper()
	for _, name := range names {
		if err := os.WriteFile(w.path(name), []byte("x"), 0o600); err != nil {
			w.Fatal(err)
		}
	}
}

// start is a start that makes what is missing, unless it is killed first.
func (w missingWorld) start(anew, killed bool) error {
	w.Helper()
	opened, err := storage.RefuseMissing(w.settings, anew)
	if err != nil || killed {
		return err
	}
	w.put("state.db", "uploads.db")
	if w.settings.Runs.Storage == configs.SQLite {
		w.put("runs.db")
	}
	if err := opened(); err != nil {
		w.Fatal(err)
	}
	return nil
}

// A folder that had a database is refused without it, or with an empty one, until it is told to be given up.
func TestMissingDatabasesAreRefused(t *testing.T) {
	for _, name := range []string{"state.db", "runs.db", "uploads.db"} {
		for _, truncated := range []bool{false, true} {
			w := newMissingWorld(t)
			if err := w.start(false, false); err != nil {
				t.Fatalf("the first start: %v", err)
			}
			if err := w.start(false, false); err != nil {
				t.Fatalf("the second start: %v", err)
			}
			err := os.Remove(w.path(name))
			if truncated {
				err = os.WriteFile(w.path(name), nil, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := w.start(false, false); err == nil || !strings.Contains(err.Error(), w.path(name)+" is missing or empty") ||
				!strings.Contains(err.Error(), "--make-missing") {
				t.Errorf("without %s: %v; want it refused", name, err)
			}
			if err := w.start(true, true); err != nil {
				t.Errorf("with --make-missing, without %s: %v", name, err)
			}
			if err := w.start(false, false); err != nil { // the start before was killed
				t.Errorf("after a start with --make-missing that was killed: %v", err)
			}
		}
	}
}

// Half of a folder whose list is lost too is refused.
func TestHalfFoldersAreRefused(t *testing.T) {
	for _, left := range []string{"runs.db", "uploads.db", "notices.db", "last-use.json",
		"0190d3a0-7d0a-7c3e-8000-000000000001.csv"} {
		w := newMissingWorld(t)
		if err := folder.Make(w.settings.Storage.Path); err != nil {
			t.Fatal(err)
		}
		w.put(left)
		if err := w.start(false, false); err == nil || !strings.Contains(err.Error(), w.path("state.db")) {
			t.Errorf("%s alone: %v; want state.db missed", left, err)
		}
	}
}

// A first start may have a master key, may be killed, and a database may come later by a setting.
func TestNewDatabasesAreMade(t *testing.T) {
	w := newMissingWorld(t)
	w.settings.Runs.Storage = configs.Off
	if err := folder.Make(w.settings.Storage.Path); err != nil {
		t.Fatal(err)
	}
	w.put("master.key")
	if err := w.start(false, true); err != nil {
		t.Fatalf("a first start: %v", err)
	}
	w.put("state.db") // before the kill
	if err := w.start(false, false); err != nil {
		t.Fatalf("the start after one that was killed: %v", err)
	}
	w.settings.Runs.Storage = configs.SQLite
	if err := w.start(false, false); err != nil {
		t.Fatalf("the first start with runs: %v", err)
	}
	list, _, err := folder.ReadDatabases(w.settings.Storage.Path)
	if want := []string{"runs.db", "state.db", "uploads.db"}; err != nil || !slices.Equal(list.Made, want) ||
		len(list.Making) != 0 {
		t.Errorf("the list is %+v, %v; want %v", list, err, want)
	}
}
