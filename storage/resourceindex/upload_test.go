package resourceindex_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/resources"
)

func TestUploads(t *testing.T) {
	onNew(t, func(t *testing.T, x indexed) {
		ctx := t.Context()
		x.must(x.Record(ctx, ourOrg,
			[]resources.Resource{withAttributes(uploaded("a"), "size", "1"), uploaded("b"),
				withAttributes(uploaded("a"), "size", "2")}, "c1"))
		x.must(x.Record(ctx, ourOrg, []resources.Resource{withAttributes(uploaded("b"), "size", "2")}, "c2"))
		x.must(x.Record(ctx, otherOrg, []resources.Resource{uploaded("a")}, "other"))
		two := resources.Query{Attributes: []resources.Pair{{Name: "size", Value: "2"}}}
		if got := x.search(ourOrg, everything, two); len(got) != 2 {
			t.Errorf("of the newest uploads %q", got)
		}
		followed, err := x.Followed(ctx)
		x.must(err)
		if len(followed) != 2 || followed[ourOrg] != "c2" || followed[otherOrg] != "other" {
			t.Errorf("followed %v", followed)
		}
		x.must(x.Forget(ctx, ourOrg))
		if cursor, err := x.Cursor(ctx, ourOrg); cursor != "" || err != nil {
			t.Errorf("cursor %q %v of uploads that were forgotten", cursor, err)
		}
		if got := x.search(ourOrg, everything, resources.Query{}); len(got) > 0 {
			t.Errorf("uploads that were forgotten are shown: %q", got)
		}
		if got := x.search(otherOrg, everything, resources.Query{}); len(got) != 1 {
			t.Errorf("another organization's uploads are %q", got)
		}
	})
}

// TestExpire removes old uploads of one organization, in pieces. What it has newer, states, and the cursor stay.
func TestExpire(t *testing.T) {
	onNew(t, func(t *testing.T, x indexed) {
		ctx, start := t.Context(), time.Date(2025, 2, 3, 0, 0, 0, 0, time.UTC)
		at := func(name string, hours int) resources.Resource {
			r := uploaded(name)
			r.At = start.Add(time.Duration(hours) * time.Hour)
			return r
		}
		old := []resources.Resource{at("a", 0), at("b", 1), at("c", 2), at("d", 3)}
		x.must(x.Record(ctx, ourOrg, old, "c1"))
		x.must(x.Record(ctx, ourOrg, []resources.Resource{at("a", 9)}, "c2"))
		x.must(x.Record(ctx, otherOrg, old, "other"))
		for i, want := range []int{1, 1, 0} {
			if n, err := x.Expire(ctx, ourOrg, start.Add(3*time.Hour), 1); n != want || err != nil {
				t.Errorf("call %d removed %d, %v", i, n, err)
			}
		}
		if got := x.search(ourOrg, everything, resources.Query{}); len(got) != 2 {
			t.Errorf("left are %q", got)
		}
		if got := x.search(otherOrg, everything, resources.Query{}); len(got) != 4 {
			t.Errorf("another organization's uploads are %q", got)
		}
		if cursor, err := x.Cursor(ctx, ourOrg); cursor != "c2" || err != nil {
			t.Errorf("the cursor is %q, %v", cursor, err)
		}
		if n, err := x.Expire(ctx, uuid.New(), time.Now(), 9); n != 0 || err != nil {
			t.Errorf("of nobody's %d went, %v", n, err)
		}
	})
}

// TestUploadsAgain: an upload that differs in anything from the one before takes its
// place, and one that does not is as new.
func TestUploadsAgain(t *testing.T) {
	onNew(t, func(t *testing.T, x indexed) {
		first := withAttributes(uploaded("a", "i"), "size", "1")
		others := map[string]resources.Resource{"again": first, "attribute": withAttributes(uploaded("a", "i"), "size", "2"),
			"identity": withAttributes(uploaded("a", "j"), "size", "1"), "kind of mark": first, "tag": first,
			"name": withAttributes(first, "name", "prod-a"), "counts": first}
		change := func(name string, change func(*resources.Resource)) {
			r := others[name]
			change(&r)
			others[name] = r
		}
		change("kind of mark", func(r *resources.Resource) { r.Traits.Identities, r.Traits.Hints = nil, r.Traits.Identities })
		change("tag", func(r *resources.Resource) { r.Tags = []resources.Pair{{Name: "env", Value: "prod"}} })
		change("counts", func(r *resources.Resource) { r.Traits.Counts = false })
		twin := inState("vm", "i")
		for name, next := range others {
			x.must(x.Record(t.Context(), ourOrg, []resources.Resource{first}, "c"))
			x.put(ourOrg, "s", twin)
			next.At = next.At.Add(time.Second)
			x.must(x.Record(t.Context(), ourOrg, []resources.Resource{next}, "c"))
			next.Traits = resources.Traits{} // they are not read back
			got, _, err := x.Search(t.Context(), ourOrg, everything, resources.Query{Source: resources.FromUpload, Limit: 10})
			if diff := cmp.Diff([]resources.Resource{next}, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
			}
			counts, err := x.Count(t.Context(), ourOrg, everything, resources.CoverageQuery{})
			x.must(err)
			want := int64(1)
			if name == "identity" || name == "counts" {
				want = 0
			}
			if got := counts[resources.FromState][resources.Managed]; got != want {
				t.Errorf("%s: %d states' resources are managed, want %d", name, got, want)
			}
		}
		words, err := resources.ParseWords("prod")
		x.must(err)
		for _, name := range []string{"tag", "name"} {
			for want, last := range []resources.Resource{first, others[name]} {
				x.must(x.Record(t.Context(), ourOrg, []resources.Resource{last}, "c"))
				if got := x.search(ourOrg, everything, resources.Query{Words: words}); len(got) != want {
					t.Errorf("%s: %q are found, want %d", name, got, want)
				}
			}
		}
	})
}
