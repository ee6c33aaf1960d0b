package states

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/stateengine"
	"github.com/holdfast/holdfast/storage/stateengine/enginetest"
)

// TestKilled holds the engine to what it is for who is killed while data keys are wrapped anew, or the states of
// an organization are destroyed.
func TestKilled(t *testing.T) {
	onEach(t, func(t *testing.T, on kind) {
		t.Setenv(onKilled, string(on))
		killable(on).RunKilled(t)
	})
}

// TestForeignMaster holds the engine to its own master keys.
func TestForeignMaster(t *testing.T) {
	onEach(t, func(t *testing.T, on kind) { killable(on).RunForeignMaster(t) })
}

// shown is a store with what the suite sees its work by.
type shown struct{ *Store }

func (s shown) Seals() *stateengine.Seals { return s.bodies.Seals }
func (s shown) Keys() seal.Keys           { return s.keys }

func killable(on kind) enginetest.Engine {
	return enginetest.Engine{
		Folder: func(t *testing.T) string {
			dir := t.TempDir()
			on.named(t, nameFor(dir))
			return dir
		},
		Open: func(dir string, master *seal.Master) (enginetest.Store, error) {
			o := on.there(nameFor(dir)).options()
			o.Master = master
			s, err := Open(context.Background(), o)
			if err != nil {
				return nil, err
			}
			s.bodies.DeltaFrom = 1
			return shown{s}, nil
		},
		Rows: func(t *testing.T, dir string) []enginetest.Row {
			d := on.there(nameFor(dir))
			leftAlone(t, d)
			return enginetest.AllRows(t, d.open(t), on.tables())
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
