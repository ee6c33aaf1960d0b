package resourcestest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// checkIndexPageBytes looks for resources that take much, each of which is the same object as
// many others: no page takes more than it may, and all resources are on one.
func checkIndexPageBytes(t *testing.T, x indexed) {
	const states, each = 12, 25
	for s := range states {
		all := make([]resources.Resource, each)
		for i := range all {
			all[i] = inState(fmt.Sprintf("%s.r%02d", strings.Repeat("m", 3000), i), fmt.Sprint("object ", i))
			for n := range 100 {
				all[i].Attributes = append(all[i].Attributes,
					resources.Pair{Name: fmt.Sprint("a", n), Value: strings.Repeat("v", n)})
			}
		}
		x.put(indexOrg, state.Name(fmt.Sprint("s", s)), all...)
	}
	place, searched := resources.Place{}, 0
	for more := true; more; more = place != (resources.Place{}) {
		found, next, err := x.Search(t.Context(), indexOrg, everything, resources.Query{Limit: 1000, After: place})
		x.must(err)
		var takes int64
		for _, one := range found {
			takes += one.Bytes()
		}
		wantPageBytes(t, len(found), takes)
		searched, place = searched+len(found), next
	}
	covered := 0
	for more := true; more; more = place != (resources.Place{}) {
		found, next, err := x.Coverage(t.Context(), indexOrg, everything,
			resources.CoverageQuery{Status: resources.ClaimedTwice, Limit: 1000, After: place})
		x.must(err)
		var takes int64
		for _, one := range found {
			takes += one.Bytes()
		}
		wantPageBytes(t, len(found), takes)
		covered, place = covered+len(found), next
	}
	if searched != states*each || covered != states*each {
		t.Errorf("%d are found and %d are claimed twice, want %d of both", searched, covered, states*each)
	}
}

func wantPageBytes(t *testing.T, n int, takes int64) {
	t.Helper()
	if n > 1 && takes > resources.PageBytes {
		t.Errorf("a page of %d resources takes %d bytes", n, takes)
	}
}
