package stateengine

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
)

// TestBasesAreBounded wants no more in memory than the limits, and those to be enough.
func TestBasesAreBounded(t *testing.T) {
	s := NewBases(100_000)
	for i := range 100 {
		s.Keep(state.Ref{Org: uuid.New(), Name: state.Name(fmt.Sprint(i))},
			Base{BaseID: BaseID{ID: 1}, Body: make([]byte, i*1_000), Size: i * 1_000, Steps: make([]byte, i*10)})
		for _, shelf := range s.shelves() {
			held := 0
			for _, b := range shelf.entries.Values() {
				held += b.cost()
			}
			if held != *shelf.bytes || held > shelf.limit {
				t.Fatalf("%d bytes are held, %d counted, %d allowed", held, *shelf.bytes, shelf.limit)
			}
		}
	}
	for _, shelf := range s.shelves() {
		if n := shelf.entries.Len(); n == 0 {
			t.Error("nothing is kept")
		}
	}
	ref := state.Ref{Org: uuid.New(), Name: "newer"}
	s.Keep(ref, Base{BaseID: BaseID{ID: 2}, Newest: 2})
	s.Keep(ref, Base{BaseID: BaseID{ID: 1}, Newest: 1}) // comes late
	if got := s.Get(ref); got == nil || got.ID != 2 {
		t.Errorf("%+v is kept, not the newest", got)
	}
}

// TestBareBases wants what there is no room for to be known without its body, as long as that says how to go on.
func TestBareBases(t *testing.T) {
	s := NewBases(10_000)
	ref := func(i int) state.Ref { return state.Ref{Name: state.Name(fmt.Sprint(i))} }
	for i := range 4 {
		b := Base{BaseID: BaseID{ID: int64(i)}, Body: make([]byte, 4_000), Size: 4_000, Newest: 5}
		if i != 1 {
			b.Steps = []byte{0}
		}
		s.Keep(ref(i), b)
	}
	s.Keep(ref(4), Base{BaseID: BaseID{ID: 4}, Body: make([]byte, 9_000), Size: 9_000, Steps: []byte{0}})
	for i, want := range []string{"bare", "gone", "whole", "whole", "bare"} {
		got := "gone"
		if b := s.Get(ref(i)); b != nil && b.Body != nil {
			got = "whole"
		} else if b != nil && b.Size > 0 && b.ID == int64(i) {
			got = "bare"
		}
		if got != want {
			t.Errorf("base %d is %s, want %s", i, got, want)
		}
	}
	s.Keep(ref(0), Base{BaseID: BaseID{ID: 9}, Body: make([]byte, 10), Size: 10, Newest: 4}) // comes late
	if b := s.Get(ref(0)); b == nil || b.ID != 0 {
		t.Errorf("%+v is kept, not the newest", b)
	}
	s.Keep(ref(0), Base{BaseID: BaseID{ID: 9}, Body: make([]byte, 10), Size: 10, Newest: 6})
	if b := s.Get(ref(0)); b == nil || b.ID != 9 || s.bare.entries.Contains(ref(0)) {
		t.Errorf("%+v is kept, not the newest alone", b)
	}
	s.DropOrg(uuid.Nil)
	if *s.whole.bytes != 0 || *s.bare.bytes != 0 {
		t.Error("not all of an organization's are dropped")
	}
}
