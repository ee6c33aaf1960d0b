package test

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

// TestSeedsAreInArchives wants no seed of a fuzz target as a file of its own.
func TestSeedsAreInArchives(t *testing.T) {
	folders, err := fuzzseeds.Loose("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		t.Errorf("%s has seeds as files: mend what they show, then move them with make fuzz-keep", folder)
	}
}

// TestTargetsReadTheirArchives wants that every fuzz target begins with the seeds of its
// archive, and that every archive is that of a target beside it.
func TestTargetsReadTheirArchives(t *testing.T) {
	targets := map[string]bool{}
	for _, path := range filesWith(t, "_test.go") {
		for _, name := range targetsOf(t, path) {
			targets[filepath.Join(filepath.Dir(path), "testdata", "fuzz", name+".txtar")] = true
		}
	}
	archives := 0
	for _, path := range filesWith(t, ".txtar") {
		if !strings.HasSuffix(filepath.Dir(path), filepath.Join("testdata", "fuzz")) {
			continue
		}
		if archives++; !targets[path] {
			t.Errorf("%s belongs to no target of its package", path)
		}
	}
	if len(targets) < 30 || archives < 25 {
		t.Errorf("there are %d targets and %d archives", len(targets), archives)
	}
}

// filesWith are the files of the module whose names end so.
func filesWith(t *testing.T, ending string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "node_modules"):
			return fs.SkipDir
		case !entry.IsDir() && strings.HasSuffix(entry.Name(), ending):
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// targetsOf names the fuzz targets of a file.
func targetsOf(t *testing.T, path string) (names []string) {
	t.Helper()
	if content, err := os.ReadFile(path); err != nil || !strings.Contains(string(content), "\nfunc Fuzz") {
		return nil
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, declared := range file.Decls {
		function, ok := declared.(*ast.FuncDecl)
		if !ok || function.Recv != nil || !strings.HasPrefix(function.Name.Name, "Fuzz") {
			continue
		}
		names = append(names, function.Name.Name)
		var body strings.Builder
		if err := printer.Fprint(&body, files, function.Body); err != nil {
			t.Fatal(err)
		}
		own := strings.HasSuffix(filepath.Dir(path), "fuzzseeds")
		if text := body.String(); !strings.HasPrefix(text, "{\n\tfuzzseeds.Add(f)\n") &&
			!(own && strings.HasPrefix(text, "{\n\tAdd(f)\n")) {
			t.Errorf("%s: %s does not begin with fuzzseeds.Add(f)", path, function.Name)
		}
	}
	return names
}
