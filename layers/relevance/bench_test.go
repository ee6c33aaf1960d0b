package relevance_test

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/holdfast/holdfast/layers/relevance"
)

// folders is a tree whose folders are listed at once, as those of git are.
type folders struct {
	files fstest.MapFS
	lists map[string][]fs.DirEntry
}

func (f folders) Open(name string) (fs.File, error)          { return f.files.Open(name) }
func (f folders) ReadDir(name string) ([]fs.DirEntry, error) { return f.lists[name], nil }

func newFolders() folders { return folders{fstest.MapFS{}, map[string][]fs.DirEntry{}} }

func (f folders) add(name, text string) {
	f.files[name] = &fstest.MapFile{Data: []byte(text)}
	info, err := fs.Stat(f.files, name)
	if err != nil {
		panic(err)
	}
	dir := path.Dir(name)
	f.lists[dir] = append(f.lists[dir], fs.FileInfoToDirEntry(info))
}

// large is a repository of 100,000 files with 5,000 layers, which call some of 500 modules.
func large() (folders, []relevance.Layer) {
	tree := newFolders()
	var all []relevance.Layer
	for i := range 500 {
		dir := fmt.Sprintf("modules/m%d", i)
		tree.add(dir+"/main.tf", fmt.Sprintf("module \"next\" {\n  source = \"../m%d\"\n}\nlocals {\n  text = "+
			"file(\"${path.module}/text.txt\")\n}\n", i/2))
		tree.add(dir+"/text.txt", "text")
	}
	for i := range 5000 {
		dir := fmt.Sprintf("envs/e%d/l%d", i%50, i)
		tree.add(dir+"/main.tf", fmt.Sprintf("module \"a\" {\n  source = \"../../../modules/m%d\"\n  name = \"x\"\n}\n"+
			"resource \"null_resource\" \"x\" {\n  for_each = toset([\"a\", \"b\"])\n}\n", i%500))
		tree.add(dir+"/variables.tf", "variable \"a\" {\n  type = string\n}\n")
		tree.add(dir+"/terraform.tfvars", "a = 1\n")
		for j := range 16 {
			tree.add(fmt.Sprintf("%s/docs/%d.md", dir, j), "")
		}
		all = append(all, relevance.Layer{Name: fmt.Sprint("l", i), Path: dir, Triggers: []string{"global/**"}})
	}
	for i := range 100_000 - len(tree.files) {
		tree.add(fmt.Sprintf("other/%d/%d.txt", i%100, i), "")
	}
	return tree, all
}

// BenchmarkFirstCommit reads all of the repository.
func BenchmarkFirstCommit(b *testing.B) {
	tree, all := large()
	for b.Loop() {
		if _, err := relevance.Build(b.Context(), tree, all); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCommit is a commit that changes a module which many call, and something else in each layer.
func BenchmarkCommit(b *testing.B) {
	tree, all := large()
	index, err := relevance.Build(b.Context(), tree, all)
	if err != nil {
		b.Fatal(err)
	}
	changed := []string{"modules/m3/main.tf"}
	for _, l := range all {
		changed = append(changed, l.Path+"/docs/3.md")
	}
	for b.Loop() {
		next, err := index.Advance(b.Context(), tree, all, changed)
		if err != nil {
			b.Fatal(err)
		}
		if n := len(next.Relevant(changed)); n == 0 || n == len(all) {
			b.Fatal(n, "layers are relevant")
		}
	}
}

// BenchmarkAllPaths is a commit that changes every file there is.
func BenchmarkAllPaths(b *testing.B) {
	tree, all := large()
	index, err := relevance.Build(b.Context(), tree, all)
	if err != nil {
		b.Fatal(err)
	}
	var changed []string
	for name := range tree.files {
		changed = append(changed, name)
	}
	slices.Sort(changed)
	for b.Loop() {
		if n := len(index.Relevant(changed)); n != len(all) {
			b.Fatal(n, "layers are relevant")
		}
	}
}
