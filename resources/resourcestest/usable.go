package resourcestest

import (
	"context"
	"errors"
	"testing"

	"github.com/holdfast/holdfast/resources"
)

// checkIndexEnded ends calls before they begin.
func checkIndexEnded(t *testing.T, x indexed) {
	x.put(indexOrg, "a", inState("vm"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range map[string]func() error{
		"Search": func() error {
			_, _, err := x.Search(ctx, indexOrg, everything, resources.Query{Limit: 1})
			return err
		},
		"Coverage": func() error {
			_, _, err := x.Coverage(ctx, indexOrg, everything, resources.CoverageQuery{Status: resources.Missing, Limit: 1})
			return err
		},
		"Count": func() error {
			_, err := x.Count(ctx, indexOrg, everything, resources.CoverageQuery{})
			return err
		},
		"Unread": func() error {
			_, err := x.Unread(ctx, indexOrg, everything, 1)
			return err
		},
	} {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s after its context ended: %v", name, err)
		}
	}
	if got := x.search(indexOrg, everything, resources.Query{}); len(got) != 1 {
		t.Errorf("found %q after calls that were given up", got)
	}
}

// What is usable stays as it is, until somebody wants it empty.
func checkIndexUsable(t *testing.T, x indexed) {
	x.put(indexOrg, "a", inState("vm"))
	x.must(x.Recover(t.Context()))
	if got := x.search(indexOrg, everything, resources.Query{}); !x.Usable() || len(got) != 1 {
		t.Errorf("usable %v, with %q, after it was recovered for nothing", x.Usable(), got)
	}
	x.must(x.Reset(t.Context()))
	p, err := x.Position(t.Context())
	if got := x.search(indexOrg, everything, resources.Query{}); !x.Usable() || len(got) != 0 ||
		p != (resources.Position{}) || err != nil {
		t.Errorf("usable %v, with %q at %+v, after it was reset: %v", x.Usable(), got, p, err)
	}
}
