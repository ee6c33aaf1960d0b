package resourcestest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/holdfast/holdfast/resources"
)

// checkIndexRepeats: an upload that differs in anything from the one before takes its
// place, and one that does not is as new.
func checkIndexRepeats(t *testing.T, x indexed) {
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
		x.must(x.Record(t.Context(), indexOrg, []resources.Resource{first}, "c"))
		x.put(indexOrg, "s", twin)
		next.At = next.At.Add(time.Second)
		x.must(x.Record(t.Context(), indexOrg, []resources.Resource{next}, "c"))
		next.Traits = resources.Traits{} // they are not read back
		got, _, err := x.Search(t.Context(), indexOrg, everything, resources.Query{Source: resources.FromUpload, Limit: 10})
		if diff := cmp.Diff([]resources.Resource{next}, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		counts, err := x.Count(t.Context(), indexOrg, everything, resources.CoverageQuery{})
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
			x.must(x.Record(t.Context(), indexOrg, []resources.Resource{last}, "c"))
			if got := x.search(indexOrg, everything, resources.Query{Words: words}); len(got) != want {
				t.Errorf("%s: %q are found, want %d", name, got, want)
			}
		}
	}
}
