package resources_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// What is managed goes by the identity rules, those of the operator too.
func TestIdentityRules(t *testing.T) {
	for _, c := range []struct {
		file   string
		states map[resources.Status]int64
		upload resources.Status
	}{
		{`{}`, map[resources.Status]int64{resources.Unmatched: 1}, resources.Unmanaged},
		{`{"types":{"aws":{"aws_instance":{"uploads":["box"]}}}}`, map[resources.Status]int64{resources.Managed: 1},
			resources.Managed},
		{`{"types":{"aws":{"box":{"identity":["serial"]},"aws_box":{"identity":["serial"]}}}}`,
			map[resources.Status]int64{resources.Unmatched: 1}, resources.Unmatched},
	} {
		w := newWorld(t)
		var err error
		w.indexer.Rules, err = resources.ReadRules([]byte(c.file))
		must(t, err)
		w.write(acme, "a", vm(1, "i-1"))
		w.upload(acme, `{"provider":"aws","category":"c","resource_type":"box","resource_name":"u","attributes":{"id":"i-1"}}`)
		w.catchUp()
		want := resources.Counts{resources.FromState: c.states, resources.FromUpload: {c.upload: 1}}
		counts, _, err := w.service.Count(t.Context(), owner(acme), resources.CoverageQuery{})
		must(t, err)
		if diff := cmp.Diff(want, counts); diff != "" {
			t.Errorf("with %s:\n%s", c.file, diff)
		}
	}
}

// damaged is an index that says once that it is.
type damaged struct {
	resources.Index
	is bool
}

func (d *damaged) Damaged() bool { return d.is }

func (d *damaged) Reset(ctx context.Context) error {
	d.is = false
	return d.Index.Reset(ctx)
}

// An index that is damaged is made again, once, without anybody's help.
func TestDamagedIndex(t *testing.T) {
	w := newWorld(t)
	for n := range 40 {
		w.write(acme, stateName(n), vm(1, fmt.Sprintf("i-%d", n), fmt.Sprintf("i-%d", n+1)))
	}
	w.upload(acme, `{"provider":"aws","category":"c","resource_type":"vm_instance","resource_name":"u","attributes":{"id":"i-1"}}`)
	w.catchUp()
	want := w.dump()
	w.indexer.Index = &damaged{w.index, true}
	for range 2 {
		w.catchUp()
		if diff := cmp.Diff(want, w.dump()); diff != "" {
			t.Errorf("what was there, and what is:\n%s", diff)
		}
	}
	if got := w.indexer.Activity().States; got != 80 {
		t.Errorf("%d states are read for two indexes of 40", got)
	}
}

func stateName(n int) state.Name { return state.Name(fmt.Sprintf("s%02d", n)) }
