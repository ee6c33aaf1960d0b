package states

import (
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/statetest"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
)

func TestStore(t *testing.T) {
	statetest.RunStore(t, func(t *testing.T) state.Store {
		d := mysqltest.New(t)
		wantSound(t, d)
		return opened(t, optionsFor(d))
	})
}

// wantSound wants what is counted and listed to follow from the rest at the end of the test, whatever was done.
func wantSound(t *testing.T, d mysqltest.Database) {
	t.Helper()
	t.Cleanup(func() {
		if off := derived(t, d); !off.isSound() {
			t.Errorf("what follows from the rest does not: %+v", off)
		}
	})
}

// TestStoreOfDeltas stores small bodies as deltas too, and has each list look at a few rows only.
func TestStoreOfDeltas(t *testing.T) {
	suite.Deep(t)
	statetest.RunStore(t, func(t *testing.T) state.Store {
		s := opened(t, optionsFor(mysqltest.New(t)))
		s.bodies.DeltaFrom, s.looks = 1, 2
		return s
	})
}

func TestDurable(t *testing.T) {
	statetest.RunDurable(t, func(t *testing.T, dir string) state.Store {
		d := mysqltest.Named(t, nameFor(dir))
		leftAlone(t, d)
		return opened(t, optionsFor(d))
	})
}

// leftAlone waits until the server has ended the sessions of a process that was killed: until then a COMMIT that it had
// sent may take effect, behind who looks what there is.
func leftAlone(t *testing.T, d mysqltest.Database) {
	t.Helper()
	db, err := d.Address.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		var sessions int
		err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.processlist WHERE db = ?",
			d.Name).Scan(&sessions)
		if err != nil || sessions > 0 && time.Now().After(end) {
			t.Fatalf("%d sessions are left, %v", sessions, err)
		}
		if sessions == 0 {
			return
		}
	}
}
