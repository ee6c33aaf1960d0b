package runstest

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/runs"
)

// checkRoom asks, before a run is made, whether the organization may have another one; and not about
// one that is there.
func checkRoom(t *testing.T, store runs.Store) {
	m, other := newMaker(), newMaker()
	other.pending(t, store, "w", runs.Plan)
	m.ended(t, store)
	first := m.run("w", runs.Plan)
	var asked runs.Tally // a transaction may be made again
	allow := func(has runs.Tally) error {
		asked = has
		return nil
	}
	made := must[runs.Run](t, "Create")(store.Create(t.Context(), first, "key", nil, allow))
	suite.Equal(t, "the tally that was asked with", runs.Tally{Stored: 1}, asked)

	full := errors.New("there is no room")
	refuse := func(runs.Tally) error { return full }
	if again, err := store.Create(t.Context(), m.run("w", runs.Plan), "key", nil, refuse); err != nil ||
		again.ID != made.ID {
		t.Errorf("a key that was used: %s, %v", again.ID, err)
	}
	none := m.run("v", runs.Plan)
	if _, err := store.Create(t.Context(), none, "other", nil, refuse); !errors.Is(err, full) {
		t.Errorf("without room: %v", err)
	}
	wantGone(t, store, none)
	suite.Equal(t, "Tally", runs.Tally{Waiting: 1, Stored: 2},
		must[runs.Tally](t, "Tally")(store.Tally(t.Context(), m.org)))
}

// checkRoomTogether has several calls race for the last places.
func checkRoomTogether(t *testing.T, store runs.Store) {
	m := newMaker()
	full := errors.New("there is no room")
	var made atomic.Int64
	together(8, func(int) {
		_, err := store.Create(background(), m.run("w", runs.Plan), "", nil, func(has runs.Tally) error {
			if has.Stored >= 3 {
				return full
			}
			return nil
		})
		switch {
		case err == nil:
			made.Add(1)
		case !errors.Is(err, full):
			t.Errorf("Create: %v", err)
		}
	})
	if n := made.Load(); n != 3 {
		t.Errorf("%d runs were made in 3 places", n)
	}
}
