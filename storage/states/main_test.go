package states

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"testing"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/statetest"
	"github.com/holdfast/holdfast/storage/mysql/mysqltest"
	"github.com/holdfast/holdfast/storage/pgdb/pgtest"
	"github.com/holdfast/holdfast/storage/stateengine"
)

func TestMain(m *testing.M) {
	killable(killedOn()).ChildMain()
	statetest.ChildMain(func(dir string) (state.Store, error) {
		s, err := Open(context.Background(), killedOn().there(nameFor(dir)).options())
		if err != nil {
			return nil, err
		}
		s.bodies.DeltaFrom = 1_000 // deltas of 10 KB already: many make a kill likely at any point
		return s, nil
	})
	os.Exit(pgtest.Main(func() int { return mysqltest.Main(m) }))
}

// nameFor returns the database that stands for a directory.
func nameFor(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return fmt.Sprintf("holdfast_test_%x", sum[:8])
}

// onKilled is the variable that says which kind of server a process works on that is to be killed.
const onKilled = "HOLDFAST_STATES_KILLED_ON"

func killedOn() kind { return kind(os.Getenv(onKilled)) }

// opened opens a store that the test closes.
func opened(t testing.TB, o Options) *Store {
	t.Helper()
	s, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// open returns a store that is closed at the end of the test.
func open(t testing.TB, o Options) *Store {
	t.Helper()
	s := opened(t, o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// newProbe forgets what the last one said.
func newProbe() *stateengine.Readiness { return stateengine.NewReadiness() }
