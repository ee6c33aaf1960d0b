package document

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is kept of a change stays as it is whatever becomes of the bodies.
func TestCloneKeepsNothingOfTheBodies(t *testing.T) {
	a := one(`{"schema_version":1,"attributes":{"id":"one","same":true}}`)
	b := one(`{"schema_version":2,"attributes":{"id":"two","same":true}}`)
	changes := func(a, b []byte) (all []ResourceChange) {
		for c := range Changes(parse(t, a), parse(t, b), Options{}) {
			all = append(all, *c)
		}
		return all
	}
	want, got := changes(slices.Clone(a), slices.Clone(b)), changes(a, b)
	got[0] = got[0].Clone()
	clear(a)
	clear(b)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Key{})); diff != "" || len(want) != 1 {
		t.Error(diff)
	}
	if n := got[0].Size(); n != int64(len(`12"one""two"`)) {
		t.Errorf("its values have %d bytes", n)
	}
}
