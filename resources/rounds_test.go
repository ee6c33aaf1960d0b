package resources

import (
	"context"
	"encoding/binary"
	"iter"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/state"
)

// crowd is many organizations that have uploads, all of which the index has, and no states.
// It counts what is asked of it.
type crowd struct {
	Index
	States
	inventory.Store
	rules *Rules

	mu      sync.Mutex
	orgs    []uuid.UUID
	lists   int               // of all organizations
	asked   map[uuid.UUID]int // for its records
	failing map[uuid.UUID]bool
}

func newCrowd(t *testing.T, count int) *crowd {
	t.Helper()
	rules, err := DefaultRules()
	if err != nil {
		t.Fatal(err)
	}
	c := &crowd{rules: rules, asked: map[uuid.UUID]int{}, failing: map[uuid.UUID]bool{}}
	for n := range count {
		var org uuid.UUID
		binary.BigEndian.PutUint32(org[:], uint32(n+1))
		c.orgs = append(c.orgs, org)
	}
	return c
}

func (c *crowd) indexer() *Indexer {
	return NewIndexer(Sources{Index: c, States: c, Uploads: c, Rules: c.rules, Log: slog.New(slog.DiscardHandler),
		Now: time.Now})
}

func (c *crowd) Damaged() bool { return false }

// Shred is of all that it stands for.
func (c *crowd) Shred(context.Context, uuid.UUID, int) (int, error) { return 0, nil }

// Expire is likewise.
func (c *crowd) Expire(context.Context, uuid.UUID, time.Time, int) (int, error) { return 0, nil }

func (c *crowd) Position(context.Context) (Position, error) {
	return Position{Complete: true}, nil
}

func (c *crowd) Feed(context.Context, uint64, int) ([]audit.Event, error) { return nil, nil }

func (c *crowd) Followed(context.Context) (map[uuid.UUID]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists++
	all := map[uuid.UUID]string{}
	for _, org := range c.orgs {
		all[org] = "c"
	}
	return all, nil
}

func (c *crowd) Cursor(context.Context, uuid.UUID) (string, error) { return "c", nil }

func (c *crowd) Organizations(context.Context) iter.Seq2[uuid.UUID, error] {
	return func(yield func(uuid.UUID, error) bool) {
		for _, org := range c.orgs {
			if !yield(org, nil) {
				return
			}
		}
	}
}

func (c *crowd) Records(_ context.Context, org uuid.UUID, _ inventory.Query) iter.Seq2[inventory.Positioned, error] {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked[org]++
	if failing := c.failing[org]; failing {
		return func(yield func(inventory.Positioned, error) bool) {
			yield(inventory.Positioned{}, fault.New(fault.StoreUnavailable, ""))
		}
	}
	return func(func(inventory.Positioned, error) bool) {}
}

// since returns what was asked, by organization, since the last call, and how often all were
// listed.
func (c *crowd) since() (asked map[uuid.UUID]int, lists int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked, lists = maps.Clone(c.asked), c.lists
	clear(c.asked)
	c.lists = 0
	return asked, lists
}

func (c *crowd) Holdings(context.Context, state.Ref, int) ([]Held, error) { return nil, nil }

// What is left of an event whose organization was shredded is at the same position.
func TestPositionOfABlankEvent(t *testing.T) {
	e := audit.Event{Sequence: 7, Org: uuid.UUID{1}, At: time.Now(), Action: audit.StateWrite, State: "a"}
	if positionAt(e) != positionAt(e.Blank()) || positionAt(e) == positionAt(audit.Event{Sequence: 7}) {
		t.Errorf("%+v, and blank %+v", positionAt(e), positionAt(e.Blank()))
	}
}

// Thousands of organizations that do nothing cost nothing but a look at a few of them now
// and then, which finds what others than this process have written.
func TestIdleOrganizations(t *testing.T) {
	const count = 4000
	c := newCrowd(t, count)
	synctest.Test(t, func(t *testing.T) {
		x := c.indexer()
		x.Start()
		defer x.Close()
		synctest.Wait()
		if asked, lists := c.since(); len(asked) != count || lists != 1 {
			t.Errorf("at the start %d organizations are looked at, after %d lists; want all, after one", len(asked), lists)
		}
		time.Sleep(100*pollEvery + time.Millisecond)
		if asked, lists := c.since(); len(asked) > 100*roundStep || lists != 0 {
			t.Errorf("in 100 looks %d organizations are looked at, and listed %d times", len(asked), lists)
		}
		busy := c.orgs[4321%count]
		for range 3 { // somebody searches who lacks something
			x.Wake(busy)
			synctest.Wait()
			if asked, lists := c.since(); len(asked) != 1 || asked[busy] != 1 || lists != 0 {
				t.Errorf("for one that waits, %v are looked at, and listed %d times", asked, lists)
			}
		}
		x.Uploaded(busy)
		time.Sleep(pollEvery + time.Millisecond)
		if asked, _ := c.since(); asked[busy] == 0 || len(asked) > roundStep+1 {
			t.Errorf("after an upload of one, %v are looked at", asked)
		}
		time.Sleep(count/roundStep*pollEvery + 2*roundEvery)
		if asked, lists := c.since(); len(asked) != count || lists == 0 || lists > 2 {
			t.Errorf("in a round's time %d organizations are looked at, want all; they are listed %d times", len(asked), lists)
		}
	})
}

// What can't be read now is read again at the next look, and nothing else with it.
func TestUploadsThatCannotBeRead(t *testing.T) {
	c := newCrowd(t, 100)
	synctest.Test(t, func(t *testing.T) {
		ill := c.orgs[50]
		c.failing[ill] = true
		x := c.indexer()
		x.Start()
		defer x.Close()
		synctest.Wait()
		if asked, _ := c.since(); len(asked) != 100 {
			t.Errorf("one that fails leaves %d to be looked at, want 100", len(asked))
		}
		for range 3 {
			time.Sleep(retryWait + time.Millisecond)
			if asked, lists := c.since(); asked[ill] != 1 || len(asked) > roundStep+1 || lists > 0 {
				t.Errorf("then %v are looked at, and listed %d times", asked, lists)
			}
			if x.Activity().Current {
				t.Error("the index counts as current")
			}
		}
		c.mu.Lock()
		c.failing[ill] = false
		c.mu.Unlock()
		time.Sleep(retryWait + time.Millisecond)
		c.since()
		time.Sleep(retryWait)
		if asked, _ := c.since(); asked[ill] != 0 || !x.Activity().Current {
			t.Errorf("it is looked at %d times when it was read; current %v", asked[ill], x.Activity().Current)
		}
	})
}

func (c *crowd) Close() error { return nil }
