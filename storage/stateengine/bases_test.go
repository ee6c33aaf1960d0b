package stateengine

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
)

// TestBasesAreBounded wants no more in memory than the limit, and that to be enough.
func TestBasesAreBounded(t *testing.T) {
	s := NewBases(100_000)
	for i := range 100 {
		s.Keep(state.Ref{Org: uuid.New(), Name: state.Name(fmt.Sprint(i))},
			Base{BaseID: BaseID{ID: 1}, Body: make([]byte, i*1_000)})
		held := 0
		for _, b := range s.entries.Values() {
			held += b.cost()
		}
		if held != s.bytes || held > s.limit {
			t.Fatalf("%d bytes are held, %d counted, %d allowed", held, s.bytes, s.limit)
		}
	}
	if n := s.entries.Len(); n == 0 {
		t.Error("nothing is kept")
	}
	ref := state.Ref{Org: uuid.New(), Name: "newer"}
	s.Keep(ref, Base{BaseID: BaseID{ID: 2}, Newest: 2})
	s.Keep(ref, Base{BaseID: BaseID{ID: 1}, Newest: 1}) // comes late
	if got := s.Get(ref); got == nil || got.ID != 2 {
		t.Errorf("%+v is kept, not the newest", got)
	}
}
