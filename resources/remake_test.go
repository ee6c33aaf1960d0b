package resources_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// rebuilt is what an index has that is made from scratch.
func (w *world) rebuilt() map[string]any {
	w.t.Helper()
	before, indexer, service := w.index, w.indexer, w.service
	w.open("")
	w.indexer.Rules = indexer.Rules
	w.catchUp()
	dump := w.dump()
	must(w.t, w.index.Close())
	w.index, w.indexer, w.service = before, indexer, service
	return dump
}

// Other identity rules make the index again by themselves; the same ones, in another
// layout, do not.
func TestChangedRules(t *testing.T) {
	path := filepath.Join(t.TempDir(), "resources.db")
	w := newWorld(t, path)
	w.write(acme, "a", vm(1, "i-1", "i-2"))
	w.upload(acme, `{"provider":"aws","category":"c","resource_type":"box","resource_name":"u","attributes":{"id":"i-1"}}`)
	reopen := func(file string) (read int64) {
		must(t, w.index.Close())
		w.open(path)
		var err error
		w.indexer.Rules, err = resources.ReadRules([]byte(file))
		must(t, err)
		w.catchUp()
		if diff := cmp.Diff(w.rebuilt(), w.dump()); diff != "" {
			t.Errorf("with %s: what a rebuild has, and what is there:\n%s", file, diff)
		}
		return w.indexer.Activity().States
	}
	w.catchUp()
	for _, c := range []struct {
		file          string
		read, managed int64
	}{
		{`{"types":{"aws":{"aws_instance":{"uploads":["box"]}}}}`, 1, 1},
		{` {"about":"boxes", "types":{"aws":{"aws_instance":{"uploads" : ["box"]}}}}`, 0, 1},
		{`{}`, 1, 0},
	} {
		if read := reopen(c.file); read != c.read {
			t.Errorf("with %s: %d states are read again, want %d", c.file, read, c.read)
		}
		counts, _, err := w.service.Count(t.Context(), owner(acme), resources.CoverageQuery{})
		must(t, err)
		if n := counts[resources.FromState][resources.Managed]; n != c.managed {
			t.Errorf("with %s: %d managed, want %d", c.file, n, c.managed)
		}
	}
}

// Uploads are read again also where the feed of states has no event that could tell.
func TestChangedRulesForUploadsOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "resources.db")
	w := newWorld(t, path)
	w.upload(acme, `{"provider":"aws","category":"c","resource_type":"box","resource_name":"u","attributes":{"id":"i-1"}}`)
	for status, file := range map[resources.Status]string{
		resources.Unmanaged: `{}`,
		resources.Unmatched: `{"types":{"aws":{"box":{"identity":["serial"]},"aws_box":{"identity":["serial"]}}}}`,
	} {
		must(t, w.index.Close())
		w.open(path)
		var err error
		w.indexer.Rules, err = resources.ReadRules([]byte(file))
		must(t, err)
		w.catchUp()
		counts, _, err := w.service.Count(t.Context(), owner(acme), resources.CoverageQuery{})
		must(t, err)
		if counts[resources.FromUpload][status] != 1 {
			t.Errorf("with %s: %v", file, counts)
		}
	}
}

// A file that is damaged in any part of it is made again without anybody's help, whoever
// comes upon the damage: the start, the indexer or a search.
func TestDamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "resources.db")
	w := newWorld(t, path)
	for n := range 40 {
		w.write(acme, stateName(n), vm(1, fmt.Sprintf("i-%d", n), fmt.Sprintf("i-%d", n+1)))
	}
	w.upload(acme, `{"provider":"aws","category":"c","resource_type":"vm_instance","resource_name":"u","attributes":{"id":"i-1"}}`)
	w.catchUp()
	want := w.dump()
	must(t, w.index.Close())
	whole, err := os.ReadFile(path)
	must(t, err)
	const page = 4096
	damages := map[string][]byte{"cut in half": whole[:len(whole)/2/page*page], "empty": nil,
		"cut within a page": whole[:len(whole)-100]}
	for at := page; at < len(whole); at += 9 * page {
		damaged := bytes.Clone(whole)
		copy(damaged[at:], bytes.Repeat([]byte{0xa5}, page))
		damages[fmt.Sprintf("page %d", at/page+1)] = damaged
	}
	for what, damaged := range damages {
		must(t, os.WriteFile(path, damaged, 0o600))
		w.open(path)
		for range 3 { // one comes upon it, the next one mends it
			_ = w.indexer.CatchUp(t.Context())
			_, _ = w.service.Search(t.Context(), owner(acme), resources.Query{Limit: 1000})
			_, _, _ = w.service.Count(t.Context(), owner(acme), resources.CoverageQuery{})
		}
		w.catchUp()
		if diff := cmp.Diff(want, w.dump()); diff != "" {
			t.Errorf("%s: what was there, and what is:\n%s", what, diff)
		}
		must(t, w.index.Close())
	}
}

func stateName(n int) state.Name { return state.Name(fmt.Sprintf("s%02d", n)) }
