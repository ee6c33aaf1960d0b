package states

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/holdfast/holdfast/state"
)

// TestRemovalIsBounded: versions go with at most some megabytes in one transaction, whether old ones are removed
// or all of a state is, however many one call may remove.
func TestRemovalIsBounded(t *testing.T) { onEach(t, testRemovalIsBounded) }

func testRemovalIsBounded(t *testing.T, on kind) {
	s := open(t, on.new(t).options())
	ref := newRef("large")
	const versions = 8
	for range versions {
		body := make([]byte, 3<<19) // which nothing makes smaller
		if _, err := rand.Read(body); err != nil {
			t.Fatal(err)
		}
		put(t, s, ref, body)
	}
	transactions := func() (n int) {
		if err := s.readers.QueryRow("SELECT COUNT(*) FROM state_outcomes").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := transactions()
	removed, err := s.Prune(t.Context(), ref, state.Pruning{Below: versions - 1, Limit: 99}, event("version.prune")[0])
	if n := transactions() - before; err != nil || removed != versions-2 || n < 2 {
		t.Errorf("%d were removed in %d transactions, %v", removed, n, err)
	}
	if _, err := s.Update(t.Context(), ref, nil, func(state.Head) (state.Change, error) {
		return state.Change{At: time.Now(), Delete: true, Events: event("state.delete")}, nil
	}); err != nil {
		t.Fatal(err)
	}
	before = transactions()
	for done := false; !done; {
		if done, err = s.Expunge(t.Context(), ref, time.Now().Add(time.Hour), 99, event("state.expunge")[0]); err != nil {
			t.Fatal(err)
		}
	}
	if n := transactions() - before; n < 2 {
		t.Errorf("the rest went in %d transactions", n)
	}
}
