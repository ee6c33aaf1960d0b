package statefile

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/internal/suite"
)

// childWrites names the folder in which a child of this test's program writes states until it is killed.
const childWrites = "HOLDFAST_STATEFILE_CHILD"

func TestMain(m *testing.M) {
	killtest.Child(childWrites, func(dir string) (*Local, error) {
		return NewLocal(filepath.Join(dir, "terraform.tfstate")), nil
	}, writeStates)
	os.Exit(m.Run())
}

// written is what a child tells of a write.
type written struct {
	Serial uint64
	Err    string
}

// Outcome implements killtest.Told.
func (w written) Outcome() (bool, error) {
	if w.Err != "" {
		return false, fmt.Errorf("the child says %s", w.Err)
	}
	return true, nil
}

// largeObjects is how many objects the states of the child have: they take many writes of the disk's blocks.
const largeObjects = 500

func writeStates(l *Local, _ uint64) {
	f := New()
	for i := range largeObjects {
		f.Set(addr.Resource{Type: "mock_thing", Name: fmt.Sprintf("t%d", i)}, `provider["example.com/acme/mock"]`,
			Instance{Attributes: json.RawMessage(`{"id":"` + strings.Repeat("x", 1000) + `"}`)})
	}
	for f.Serial = 1; ; f.Serial++ {
		w := written{Serial: f.Serial}
		if err := l.Write(context.Background(), f); err != nil {
			w.Err = err.Error()
		}
		killtest.Tell(w)
	}
}

// A process that is killed while it writes a large state leaves a whole one: the last that it wrote, or the one that it
// was at.
func TestM2KilledWriteLeavesAWholeState(t *testing.T) {
	suite.Deep(t)
	for after := 1; after <= 3; after++ {
		dir := t.TempDir()
		told := killtest.Kill[written](t, childWrites, dir, 1, after)
		f, err := NewLocal(filepath.Join(dir, "terraform.tfstate")).Read(t.Context())
		if err != nil || f == nil {
			t.Fatalf("after %d writes the state is %v, %v", after, f, err)
		}
		last := told[len(told)-1].Serial
		if f.Serial < last || f.Serial > last+1 || len(f.Resources) != largeObjects {
			t.Errorf("the state has the serial %d and %d objects; the last that was told of is %d", f.Serial, len(f.Resources),
				last)
		}
	}
}
