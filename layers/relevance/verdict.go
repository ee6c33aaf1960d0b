package relevance

import (
	"fmt"
	"path"
	"slices"
)

// Verdict says why a commit changes a layer, or why not.
type Verdict struct {
	Relevant bool
	Path     string // the first that is
	Why      string
}

// Relevant returns the layers that read one of the changed paths, by name, each with the first of them.
func (x *Index) Relevant(changed []string) map[string]Verdict {
	first := map[int32]use{} // of the first path that a layer reads, the first source
	at := map[int32]string{}
	for _, name := range changed {
		x.uses(name, func(u use) {
			was, known := first[u.layer]
			if !known || at[u.layer] == name && u.source < was.source {
				first[u.layer], at[u.layer] = u, name
			}
		})
	}
	found := make(map[string]Verdict, len(first))
	for i, u := range first {
		found[x.layers[i].Name] = relevant(at[i], x.layers[i].sources[u.source])
	}
	return found
}

// Why is the verdict on one layer.
func (x *Index) Why(layer string, changed []string) Verdict {
	i, ok := x.number[layer]
	if !ok {
		return Verdict{Why: "there is no such layer"}
	}
	for _, name := range changed {
		for _, s := range x.layers[i].sources {
			if s.Has(name) {
				return relevant(name, s)
			}
		}
	}
	return Verdict{Why: Irrelevant(len(changed))}
}

func relevant(name string, s Source) Verdict { return Verdict{true, name, name + ": " + s.Why} }

// Irrelevant says why a commit doesn't change a layer.
func Irrelevant(changed int) string {
	return fmt.Sprintf("none of the %d changed paths is read by the layer", changed)
}

// Sources returns what a layer reads.
func (x *Index) Sources(layer string) []Source {
	i, ok := x.number[layer]
	if !ok {
		return nil
	}
	return slices.Clone(x.layers[i].sources)
}

// uses calls found for each use of a path.
func (x *Index) uses(name string, found func(use)) {
	check := func(all []use) {
		for _, u := range all {
			if x.layers[u.layer].sources[u.source].Has(name) {
				found(u)
			}
		}
	}
	check(x.folders[path.Dir(name)])
	check(x.under[name])
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		check(x.under[dir])
		check(x.sets[dir])
		if dir == "." || dir == "/" {
			return
		}
	}
}
