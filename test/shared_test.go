package test

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSharedThings finds what many wait for or fill together, in the product's own code, and
// wants each in the list: a new one says which scenario of TestFairness has an organization
// do its worst to it, or why none could.
func TestSharedThings(t *testing.T) {
	found := map[string]bool{}
	for _, file := range productFiles(t) {
		for _, what := range boundedThings(t, file) {
			key := filepath.ToSlash(filepath.Dir(strings.TrimPrefix(file, "../"))) + ": " + what
			found[key] = true
			if sharedThings()[key] == "" {
				t.Errorf("%s is not in the list of what organizations share:\n%q: \"\",", file, key)
			}
		}
	}
	why := append(scenarioNames(), ofOne, inOrder, atStart, ofOperator, byPlaces)
	for _, key := range slices.Sorted(maps.Keys(sharedThings())) {
		if !slices.Contains(why, sharedThings()[key]) {
			t.Errorf("%q: %q is neither a scenario nor a reason", key, sharedThings()[key])
		}
		if !found[key] {
			t.Errorf("%q is in the list of what organizations share, and nowhere in the code", key)
		}
	}
}

// productFiles are the Go files that are part of the server.
func productFiles(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (path == "../bench" || path == "../test" || path == "../.git" || strings.HasSuffix(name, "test") && path != ".."):
			return fs.SkipDir
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			files = append(files, path)
		}
		return nil
	})
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files
}

// boundedThings are the calls in a file that make something of which there is only so much.
func boundedThings(t *testing.T, path string) (all []string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if ok && isBounded(call) {
			var text strings.Builder
			if err := printer.Fprint(&text, files, call); err != nil {
				t.Fatal(err)
			}
			all = append(all, text.String())
		}
		return true
	})
	return all
}

// isBounded reports whether a call makes a channel with room, places, a budget or a pool of
// connections.
func isBounded(call *ast.CallExpr) bool {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		if fun.Name == "make" && len(call.Args) == 2 {
			_, ok := call.Args[0].(*ast.ChanType)
			return ok
		}
	case *ast.SelectorExpr:
		if fun.Sel.Name == "SetMaxOpenConns" || fun.Sel.Name == "SetLimit" {
			return true
		}
		of, ok := fun.X.(*ast.Ident)
		return ok && slices.Contains([]string{"turns.New", "budget.New", "semaphore.NewWeighted"}, of.Name+"."+fun.Sel.Name)
	}
	return false
}
