package states

import (
	"context"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/internal/turns"
	"github.com/holdfast/holdfast/state"
)

// TestOneOrganizationsConnections has one organization ask for every connection there is, and for
// many more: another one does all that there is to do meanwhile.
func TestOneOrganizationsConnections(t *testing.T) { onEach(t, testOneOrganizationsConnections) }

func testOneOrganizationsConnections(t *testing.T, on kind) {
	s, greedy, ref := nodes(t, on, 1)[0], uuid.New(), newRef("other")
	ctx, stop := context.WithCancel(context.Background())
	var waiting sync.WaitGroup
	for _, places := range []*turns.Turns{s.writing, s.heading, s.reading, s.listing} {
		for range 100 {
			if release, ok := places.TryAcquire(greedy); ok {
				defer release()
				continue
			}
			waiting.Go(func() {
				if release, err := places.Acquire(ctx, greedy); err == nil {
					release()
				}
			})
		}
	}
	put(t, s, ref, []byte("{}"))
	wantVersions(t, s, ref, []byte("{}"))
	_, head := s.Head(t.Context(), ref)
	_, states := s.States(t.Context(), ref.Org, state.StatesQuery{Limit: 9})
	_, feed := s.Feed(t.Context(), 0, 9)
	purge := s.Purge(t.Context(), ref, 1, audit.Event{Action: audit.VersionPurge})
	for what, err := range map[string]error{"Head": head, "States": states, "Feed": feed, "Purge": purge} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	stop()
	waiting.Wait()
}

// TestLanes has many changes of a state wait whose row a stopped node has locked: they take up one
// connection, and their callers may give up.
func TestLanes(t *testing.T) { onEach(t, testLanes) }

func testLanes(t *testing.T, on kind) {
	stores, ref := nodes(t, on, 2), newRef("busy")
	put(t, stores[0], ref, []byte("{}"))
	session, end := stuck(t, on, stores[1], ref)
	defer end()
	ctx, stop := context.WithCancel(context.Background())
	var waiting sync.WaitGroup
	for range 60 {
		waiting.Go(func() {
			_, _ = stores[0].Update(ctx, ref, []byte("[]"), write([]byte("[]")))
		})
	}
	for range 10 {
		put(t, stores[0], state.Ref{Org: ref.Org, Name: "other"}, []byte("{}"))
	}
	if n := stores[0].writers.Stats().InUse; n > 1 {
		t.Errorf("%d connections are in use by changes of one state", n)
	}
	stop()
	if _, err := stores[0].readers.Exec(on.kill(session)); err != nil {
		t.Fatal(err)
	}
	waiting.Wait()
	stores[0].lanes.mu.Lock()
	defer stores[0].lanes.mu.Unlock()
	if n := len(stores[0].lanes.busy); n != 0 {
		t.Errorf("%d lanes are left behind", n)
	}
}
