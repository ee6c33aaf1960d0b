package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/sqlitedb/sqlitetest"
	"github.com/holdfast/holdfast/storage/stateengine"
	"github.com/holdfast/holdfast/storage/stateengine/enginetest"
)

// TestKilled holds the engine to what it is for who is killed while data keys are wrapped anew, or the states of
// an organization are destroyed.
func TestKilled(t *testing.T) { killable().RunKilled(t) }

// TestForeignMaster holds the engine to its own master keys.
func TestForeignMaster(t *testing.T) { killable().RunForeignMaster(t) }

// shown is a store with what the suite sees its work by.
type shown struct{ *Store }

func (s shown) Seals() *stateengine.Seals { return s.bodies.Seals }
func (s shown) Keys() seal.Keys           { return s.keys }

func killable() enginetest.Engine {
	return enginetest.Engine{
		Folder: func(t *testing.T) string { return t.TempDir() },
		Open: func(dir string, master *seal.Master) (enginetest.Store, error) {
			s, err := Open(context.Background(), Options{Dir: dir, Master: master})
			if err != nil {
				return nil, err
			}
			s.bodies.DeltaFrom = 1
			return shown{s}, nil
		},
		Rows: func(t *testing.T, dir string) []enginetest.Row {
			db, err := databaseFile(filepath.Join(dir, databaseName)).OpenReader()
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			return enginetest.AllRows(t, db,
				"SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
		},
		Files: func(t *testing.T, dir, text string) (in []string) {
			if n := sqlitetest.CountIn(t, dir, text); n > 0 {
				in = append(in, fmt.Sprint(n, " places of the files"))
			}
			return in
		},
		Counts: []string{"sweeps"},
		Logs:   []string{"events"},
	}
}
