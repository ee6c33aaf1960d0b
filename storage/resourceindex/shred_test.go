package resourceindex_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// TestShred forgets an organization in the smallest pieces. Another one has the same, and is as
// it was.
func TestShred(t *testing.T) {
	onNew(t, func(t *testing.T, x indexed) {
		ctx := t.Context()
		for _, org := range []uuid.UUID{ourOrg, otherOrg} {
			for _, name := range []state.Name{"a", "b", "c"} {
				x.put(org, name, withAttributes(inState("vm"), "id", "i-0abc"), inState("net"), inState("disk"))
			}
			x.must(x.Record(ctx, org, []resources.Resource{uploaded("vm"), uploaded("net")}, "cursor"))
		}
		before := len(x.search(otherOrg, everything, resources.Query{}))
		for pieces := 0; ; pieces++ {
			removed, err := x.Shred(ctx, ourOrg, 2)
			if err != nil || removed < 0 || removed > 2 || pieces > 100 {
				t.Fatalf("Shred removed %d in piece %d, %v", removed, pieces, err)
			}
			if got := x.search(otherOrg, everything, resources.Query{}); len(got) != before {
				t.Fatalf("another organization's are %d, were %d", len(got), before)
			}
			if removed == 0 {
				break
			}
		}
		for _, q := range []resources.Query{{}, {Words: []string{"vm"}},
			{Attributes: []resources.Pair{{Name: "id", Value: "i-0abc"}}}} {
			if got := x.search(ourOrg, everything, q); len(got) > 0 {
				t.Errorf("%+v shows %q", q, got)
			}
			if got := x.search(otherOrg, everything, q); len(got) == 0 {
				t.Errorf("%+v shows nothing of another organization", q)
			}
		}
		listed, err := x.Holdings(ctx, state.Ref{}, 100)
		x.must(err)
		for _, one := range listed {
			if one.Ref.Org == ourOrg {
				t.Errorf("the index holds %v", one.Ref)
			}
		}
		followed, err := x.Followed(ctx)
		x.must(err)
		if _, ok := followed[ourOrg]; ok || followed[otherOrg] != "cursor" || len(listed) < 3 {
			t.Errorf("followed %v, %d held", followed, len(listed))
		}
		if removed, err := x.Shred(ctx, ourOrg, 2); removed != 0 || err != nil {
			t.Errorf("again: %d, %v", removed, err)
		}
		x.put(ourOrg, "a", inState("vm"))
		if got := x.search(ourOrg, everything, resources.Query{}); len(got) != 1 {
			t.Errorf("anew: %q", got)
		}
	})
}
