package resourceindex_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// Until the last of the new resources is there, the old ones are shown.
func TestReplaceAllAtOnce(t *testing.T) {
	onNew(t, func(t *testing.T, x indexed) {
		x.put(ourOrg, "a", inState("old"))
		x.must(x.Replace(t.Context(), state.Ref{Org: ourOrg, Name: "a"}, held(2), func(yield func(resources.Resource) bool) {
			for n := range 2000 {
				if n%500 == 400 {
					if got := x.search(ourOrg, everything, resources.Query{}); !slices.Equal(got, []string{"a:old"}) {
						t.Fatalf("after %d new ones: %q", n, got)
					}
				}
				one := inState(fmt.Sprintf("new%04d", n))
				one.State = "a"
				if !yield(one) {
					return
				}
			}
		}))
		if got := x.search(ourOrg, everything, resources.Query{Limit: 5000}); len(got) != 2000 || got[0] != "a:new0000" {
			t.Errorf("%d resources after all", len(got))
		}
	})
}

// What breaks off in the middle changes nothing, and the next try works.
func TestReplaceBrokenOff(t *testing.T) {
	onNew(t, func(t *testing.T, x indexed) {
		x.put(ourOrg, "a", inState("old"))
		ctx, cancel := context.WithCancel(t.Context())
		err := x.Replace(ctx, state.Ref{Org: ourOrg, Name: "a"}, held(2), func(yield func(resources.Resource) bool) {
			for n := range 1000 {
				if n == 700 {
					cancel()
				}
				if !yield(inState(fmt.Sprint(n))) {
					return
				}
			}
		})
		if err == nil {
			t.Error("no error of a context that ended")
		}
		if got := x.search(ourOrg, everything, resources.Query{}); !slices.Equal(got, []string{"a:old"}) {
			t.Errorf("after the error: %q", got)
		}
		if h, _ := x.Holding(t.Context(), state.Ref{Org: ourOrg, Name: "a"}); h.Version != 1 {
			t.Errorf("version %d after the error", h.Version)
		}
		x.put(ourOrg, "a", inState("new"))
		if got := x.search(ourOrg, everything, resources.Query{}); !slices.Equal(got, []string{"a:new"}) {
			t.Errorf("after the next try: %q", got)
		}
	})
}
