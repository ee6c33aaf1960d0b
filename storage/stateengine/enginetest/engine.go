// Package enginetest is the suite of what engines do with all states at once, beside what state.Store says of one:
// their data keys are wrapped anew, those of an organization are destroyed. Whoever does it may be
// killed anywhere, and leaves what was there before or what is to be there. Every engine passes it.
package enginetest

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/seal/sealtest"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// Store is an engine's, with what the suite sees its work by.
type Store interface {
	state.Store
	Rewrap(ctx context.Context, master *seal.Master) (changed int, err error)
	UnopenedKeys(ctx context.Context) (map[uuid.UUID]error, error)

	// Seals seals what the store keeps, with data keys that Keys keeps.
	Seals() *stateengine.Seals
	Keys() seal.Keys
}

// Engine is a kind of Store.
type Engine struct {
	// Folder returns a folder that stands for a store, which is there until the test ends.
	Folder func(t *testing.T) string
	// Open opens the store of a folder, a new one or one that was used before.
	Open func(dir string, master *seal.Master) (Store, error)
	// Rows returns all rows of all tables of a store that nobody has open (see AllRows).
	Rows func(t *testing.T, dir string) []Row
	// Files returns those of the files that the engine itself writes in which a text stands; nil for an engine whose
	// files are a server's.
	Files func(t *testing.T, dir, text string) []string
	// Counts are tables whose rows may differ when an organization came and went, since they say how much was done
	// so far. Logs are those that keep rows of which nothing tells whose they were.
	Counts, Logs []string
	// Fill puts rows of the organization that is destroyed into the store, such as no method of it does; nil for none.
	Fill func(t *testing.T, s Store, org uuid.UUID)
}

// The children's variables, each of which names the folder to work on.
const (
	childRewraps = "HOLDFAST_ENGINETEST_REWRAPS"
	childShreds  = "HOLDFAST_ENGINETEST_SHREDS"
)

// ChildMain is for the first lines of an engine's TestMain. It returns at once, unless this process is a child that
// RunKilled starts and kills.
func (e Engine) ChildMain() {
	for variable, work := range map[string]func(*child) error{
		childRewraps: (*child).rewrap, childShreds: (*child).shred,
	} {
		killtest.Child(variable, e.openChild, func(c *child, seed uint64) {
			c.Moments = killtest.NewMoments(seed)
			c.use()
			if err := work(c); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			c.End()
		})
	}
}

// RunKilled holds an engine to it. The engine's TestMain has to call ChildMain.
func (e Engine) RunKilled(t *testing.T) {
	suite.Deep(t)
	t.Run("Rewrapping", e.checkRewrapping)
	t.Run("Shredding", e.checkShredding)
}

// open opens a store under the master keys of its folder.
func (e Engine) open(t *testing.T, dir string) Store {
	t.Helper()
	s, err := e.Open(dir, sealtest.MasterIn(dir))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
