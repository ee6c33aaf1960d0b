package relevance

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// Linked is a tree in which there may be links. A run is given what they lead to, so a layer reads that.
type Linked interface {
	fs.FS
	// Links returns the links by their paths, each with what tells it from one that leads elsewhere.
	Links() map[string]string
	// Resolve returns the path that a path leads to by the links in it, and these links, whether there is something or
	// not.
	Resolve(name string) (to string, followed []string, err error)
}

// links follows the links of a tree. The zero value has none.
type links struct {
	tree  Linked
	known map[string]string
	paths []string // sorted
}

func linksOf(tree fs.FS) links {
	linked, ok := tree.(Linked)
	if !ok {
		return links{}
	}
	known := linked.Links()
	return links{linked, known, slices.Sorted(maps.Keys(known))}
}

// resolve returns where a path leads, and the links on the way; the path itself where it leads nowhere.
func (l links) resolve(name string) (string, []string) {
	if len(l.paths) == 0 {
		return name, nil
	}
	to, followed, err := l.tree.Resolve(name)
	if err != nil { // a link that leads out of the repository leads to nothing that is read
		return name, nil
	}
	return to, followed
}

// below are the links in a folder, and in those below it.
func (l links) below(dir string) []string {
	if dir == "." {
		return l.paths
	}
	from, _ := slices.BinarySearch(l.paths, dir+"/")
	to, _ := slices.BinarySearch(l.paths, dir+"0") // "0" comes behind "/"
	return l.paths[from:to]
}

// maxLinked is how many links within what links lead to are followed, as in an archive.
const maxLinked = 4

// expand adds to sources what the links lead to that are in their paths, or in what they have; the links themselves
// too, which may be made to lead elsewhere.
func (l links) expand(sources []Source) []Source {
	if len(l.paths) == 0 {
		return sources
	}
	known := map[Source]bool{}
	var add func(s Source, depth int)
	add = func(s Source, depth int) {
		to, followed := l.resolve(s.Path)
		why := s.Why
		for _, link := range followed {
			why = s.Why + ", by the link " + link
			l.keep(&sources, known, Source{Kind: Under, Path: link, Why: why, linked: true})
		}
		real := Source{Kind: s.Kind, Path: to, Pattern: s.Pattern, Why: why, linked: true}
		if depth > 0 || to != s.Path {
			if !l.keep(&sources, known, real) {
				return
			}
		}
		if depth >= maxLinked {
			return
		}
		for _, link := range l.below(to) {
			if real.Kind == Matching || real.Has(link) {
				add(Source{Kind: Under, Path: link, Why: s.Why}, depth+1)
			}
		}
	}
	for _, s := range slices.Clone(sources) {
		add(s, 0)
	}
	return sources
}

func (l links) keep(sources *[]Source, known map[Source]bool, s Source) bool {
	if known[s] {
		return false
	}
	known[s] = true
	*sources = append(*sources, s)
	return true
}

// origins are the paths, other than those in a folder itself, that its configuration was read from.
func (l links) origins(dir string) (all []string) {
	if len(l.paths) == 0 {
		return nil
	}
	to, _ := l.resolve(dir)
	if to != dir {
		all = append(all, to)
	}
	for _, link := range l.below(to) {
		if path.Dir(link) == to && IsConfiguration(path.Base(link)) {
			file, _ := l.resolve(link)
			all = append(all, file)
		}
	}
	return all
}

// isOf reports whether a changed path is among a module's origins.
func isOf(origins []string, changed string) bool {
	return slices.ContainsFunc(origins, func(at string) bool {
		return changed == at || strings.HasPrefix(changed, at+"/")
	})
}
