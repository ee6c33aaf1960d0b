package relevance

import (
	"context"
	"io/fs"
	"maps"
	"path"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Layer is a layer, as far as its relevance goes.
type Layer struct {
	Name     string
	Path     string   // its folder; "." is the repository's own
	Triggers []string // patterns of other paths that are relevant
}

// Index says which layers read a path. It never changes: Advance makes another one.
type Index struct {
	modules map[string]*module
	layers  []entry
	links   links
	number  map[string]int // of a layer, by its name

	// By where what they read is.
	folders map[string][]use // of Module and Root
	under   map[string][]use
	sets    map[string][]use // of Matching, by the folder that all they match is in
}

// entry is a layer with all that it reads.
type entry struct {
	Layer
	sources []Source
	// folders are those whose configuration says so.
	folders []string
}

// use is a source of a layer, by their numbers.
type use struct{ layer, source int32 }

// maxFolders is how many modules a layer may be made of: one of more reads the whole repository.
const maxFolders = 2000

// Build reads the tree of a commit.
func Build(ctx context.Context, tree fs.FS, layers []Layer) (*Index, error) {
	return (&Index{}).Advance(ctx, tree, layers, nil)
}

// Advance makes the index of another commit, whose tree differs from that of this one in the changed paths alone. It
// reads what has changed, and what is new among the layers.
func (x *Index) Advance(ctx context.Context, tree fs.FS, layers []Layer, changed []string) (*Index, error) {
	by := linksOf(tree)
	if !maps.Equal(by.known, x.links.known) {
		x = &Index{} // what is where may be anything
	}
	next := &Index{modules: maps.Clone(x.modules), links: by, number: map[string]int{}}
	if next.modules == nil {
		next.modules = map[string]*module{}
	}
	gone := map[string]bool{}
	for _, name := range changed {
		if dir := path.Dir(name); IsConfiguration(path.Base(name)) && next.modules[dir] != nil {
			gone[dir] = true
			delete(next.modules, dir)
		}
	}
	for dir, m := range next.modules {
		if len(m.origins) > 0 && slices.ContainsFunc(changed, func(name string) bool { return isOf(m.origins, name) }) {
			gone[dir] = true
			delete(next.modules, dir)
		}
	}
	reused := make([]entry, len(layers))
	folders := slices.Collect(maps.Keys(gone))
	for i, l := range layers {
		if old, ok := x.number[l.Name]; ok && x.layers[old].same(l) && !x.layers[old].reads(gone) {
			reused[i] = x.layers[old]
			continue
		}
		folders = append(folders, path.Clean(l.Path))
	}
	if err := next.parseAll(ctx, tree, folders); err != nil {
		return nil, err
	}
	for i, l := range layers {
		next.number[l.Name] = len(next.layers)
		if reused[i].Name == "" {
			reused[i] = next.entry(l)
			reused[i].sources = by.expand(reused[i].sources)
		}
		next.layers = append(next.layers, reused[i])
	}
	next.arrange()
	next.links.tree = nil // it may be closed
	return next, nil
}

func (e entry) same(l Layer) bool {
	return e.Path == l.Path && slices.Equal(e.Triggers, l.Triggers)
}

func (e entry) reads(folders map[string]bool) bool {
	return slices.ContainsFunc(e.folders, func(dir string) bool { return folders[dir] })
}

// parseAll reads the modules in the folders, and those that they call.
func (x *Index) parseAll(ctx context.Context, tree fs.FS, folders []string) error {
	var mu sync.Mutex
	for len(folders) > 0 {
		slices.Sort(folders)
		folders = slices.DeleteFunc(slices.Compact(folders), func(dir string) bool { return x.modules[dir] != nil })
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(runtime.GOMAXPROCS(0))
		var called []string
		for _, dir := range folders {
			group.Go(func() error {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				m, err := parse(tree, dir, x.links)
				if err != nil {
					return err
				}
				mu.Lock()
				defer mu.Unlock()
				x.modules[dir] = m
				for _, c := range m.calls {
					called = append(called, c.Path)
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		folders = called
	}
	return nil
}

// entry follows a layer to all that it reads.
func (x *Index) entry(l Layer) entry {
	root := path.Clean(l.Path)
	e := entry{Layer: l, sources: []Source{{Kind: Root, Path: root, Why: "the layer's own folder"}},
		folders: []string{root}}
	for _, pattern := range l.Triggers {
		e.sources = append(e.sources, Source{Kind: Matching, Path: ".", Pattern: pattern, Why: "the trigger path " +
			pattern})
	}
	for i := 0; i < len(e.folders); i++ {
		m := x.modules[e.folders[i]]
		if m == nil {
			continue
		}
		e.sources = append(e.sources, m.reads...)
		for _, r := range m.inRoot {
			if to, inside := join(root, r.Path); inside {
				r.Path = to
				e.sources = append(e.sources, r)
			}
		}
		for _, c := range m.calls {
			if slices.Contains(e.folders, c.Path) {
				continue
			}
			if len(e.folders) >= maxFolders {
				e.sources = append(e.sources, Source{Kind: Under, Path: ".", Why: "it calls too many modules to be followed"})
				return e
			}
			e.folders = append(e.folders, c.Path)
			e.sources = append(e.sources, c)
		}
	}
	return e
}

// arrange makes what finds the layers of a path.
func (x *Index) arrange() {
	x.folders, x.under, x.sets = map[string][]use{}, map[string][]use{}, map[string][]use{}
	for i, e := range x.layers {
		for j, s := range e.sources {
			u := use{int32(i), int32(j)}
			switch s.Kind {
			case Under:
				x.under[s.Path] = append(x.under[s.Path], u)
			case Matching:
				at := path.Join(s.Path, steady(s.Pattern))
				x.sets[at] = append(x.sets[at], u)
			default:
				x.folders[s.Path] = append(x.folders[s.Path], u)
			}
		}
	}
}
