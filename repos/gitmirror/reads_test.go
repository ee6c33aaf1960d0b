package gitmirror_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/layers/relevance"
	"github.com/holdfast/holdfast/repos/gitmirror"
)

// What a run has by links, the layer reads: a change of what they lead to, or of the links, is one of the layer,
// however the index was made.
func TestLayersReadWhatLinksLeadTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gitmirror.Limits{})
	w.repo.Write("common/providers.tf", `module "far" { source = "./far" }`)
	w.repo.Write("common/far/main.tf", "")
	w.repo.Write("common/vars.txt", "a")
	w.repo.Write("links/app/main.tf", "")
	w.repo.Link("links/app/providers.tf", "../../common/providers.tf")
	w.repo.Write("links/app2/main.tf", `module "m" { source = "../modlink" }`)
	w.repo.Link("links/modlink", "../common")
	w.repo.Write("links/app3/main.tf", `locals { x = fileset("${path.module}/rules", "**/*.json") }`)
	w.repo.Write("shared/rules/a.json", "{}")
	w.repo.Link("links/app3/rules", "../../shared/rules")
	w.repo.Write("links/app4/main.tf", "")
	w.repo.Link("links/app4/terraform.tfvars", "../../common/vars.txt")
	w.repo.Write("links/app5/main.tf", `module "out" { source = "../out" }`)
	w.repo.Link("links/out", "../../..")
	w.repo.Link("links/loop", "loop")
	one := w.repo.Commit("links")
	w.repo.Write("common/providers.tf", "# changed")
	two := w.repo.Commit("no module")
	w.repo.Push()
	w.fetch()
	var layers []relevance.Layer
	for _, name := range []string{"app", "app2", "app3", "app4", "app5"} {
		layers = append(layers, relevance.Layer{Name: name, Path: "links/" + name})
	}
	index := &relevance.Index{}
	advance := func(commit string, changed ...string) {
		tree, err := w.mirror.Tree(t.Context(), commit)
		must(t, err)
		defer func() { _ = tree.Close() }()
		index, err = index.Advance(t.Context(), tree.FS(t.Context()), layers, changed)
		must(t, err)
	}
	check := func(want map[string]string) {
		t.Helper()
		for changed, names := range want {
			if got := strings.Join(slices.Sorted(maps.Keys(index.Relevant([]string{changed}))), " "); got != names {
				t.Errorf("%s changes %q, want %q", changed, got, names)
			}
		}
	}
	advance(one)
	check(map[string]string{"common/providers.tf": "app app2", "links/modlink": "app2", "links/app/providers.tf": "app",
		"common/far/main.tf": "app2", "shared/rules/b.json": "app3", "links/app3/rules": "app3", "common/vars.txt": "app4",
		"common/README.md": "", "links/app5/main.tf": "app5"})
	advance(two, "common/providers.tf")
	check(map[string]string{"common/providers.tf": "app app2", "common/far/main.tf": ""})
}
