package states

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
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
	in := func(dir string) Options {
		return optionsFor(mysqltest.Database{Address: mysqltest.FromEnvironment(), Name: nameFor(dir)})
	}
	return enginetest.Engine{
		Folder: func(t *testing.T) string {
			dir := t.TempDir()
			mysqltest.Named(t, nameFor(dir))
			return dir
		},
		Open: func(dir string, master *seal.Master) (enginetest.Store, error) {
			o := in(dir)
			o.Master = master
			s, err := Open(context.Background(), o)
			if err != nil {
				return nil, err
			}
			s.bodies.DeltaFrom = 1
			return shown{s}, nil
		},
		Rows: func(t *testing.T, dir string) []enginetest.Row {
			o, err := in(dir).WithDefaults()
			if err != nil {
				t.Fatal(err)
			}
			leftAlone(t, mysqltest.Database{Address: mysqltest.FromEnvironment(), Name: o.Name})
			db, err := o.OpenPool(o.Name)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			return enginetest.AllRows(t, db, "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()")
		},
		Counts: []string{"state_log", "state_outcomes", "state_probe"},
		Logs:   []string{"state_events", "state_links"},
		Fill:   fillRewound,
	}
}

// fillRewound has the database say that it has lost a change of an organization's state.
func fillRewound(t *testing.T, s enginetest.Store, org uuid.UUID) {
	t.Helper()
	_, err := s.(shown).readers.ExecContext(t.Context(), sqlAddRewind, org.String(), "lost", 3, time.Now(), 2)
	if err != nil {
		t.Fatal(err)
	}
}
