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
	files := productFiles(t)
	named := channelTypes(t, files)
	for _, file := range files {
		for _, what := range boundedThings(t, file, named) {
			key := filepath.ToSlash(filepath.Dir(strings.TrimPrefix(file, "../"))) + ": " + what
			found[key] = true
			if sharedThings()[key] == "" {
				t.Errorf("%s is not in the list of what organizations share:\n%q: \"\",", file, key)
			}
		}
	}
	why := append(scenarioNames(), ofOne, inOrder, atStart, ofOperator, byPlaces, byTurns, byInsight, byFetches,
		bySweeps, byHooks, limited, claimed, refused)
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
		case entry.IsDir() && (path == "../bench" || path == "../test" || path == "../.git" || name == "node_modules" ||
			strings.HasSuffix(name, "test") && path != ".."):
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

// channelTypes are the types with names that are channels, by folder and name.
func channelTypes(t *testing.T, paths []string) map[string]bool {
	t.Helper()
	named := map[string]bool{}
	for _, path := range paths {
		ast.Inspect(parse(t, token.NewFileSet(), path), func(node ast.Node) bool {
			if spec, ok := node.(*ast.TypeSpec); ok {
				if _, ok := spec.Type.(*ast.ChanType); ok {
					named[filepath.Dir(path)+" "+spec.Name.Name] = true
				}
			}
			return true
		})
	}
	return named
}

func parse(t *testing.T, files *token.FileSet, path string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// boundedThings are the calls in a file that make something of which there is only so much.
func boundedThings(t *testing.T, path string, named map[string]bool) (all []string) {
	t.Helper()
	files := token.NewFileSet()
	ast.Inspect(parse(t, files, path), func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if ok && isBounded(call, func(name string) bool { return named[filepath.Dir(path)+" "+name] }) {
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

// isBounded reports whether a call makes a channel with room, places, a budget, a pool of
// connections or a queue in which organizations wait. isChannel says of a type with a name
// whether it is one.
func isBounded(call *ast.CallExpr, isChannel func(name string) bool) bool {
	function := call.Fun
	if typed, ok := function.(*ast.IndexExpr); ok {
		function = typed.X
	}
	switch fun := function.(type) {
	case *ast.Ident:
		if fun.Name == "make" && len(call.Args) == 2 {
			switch of := call.Args[0].(type) {
			case *ast.ChanType:
				return true
			case *ast.Ident:
				return isChannel(of.Name)
			}
		}
	case *ast.SelectorExpr:
		if fun.Sel.Name == "SetMaxOpenConns" || fun.Sel.Name == "SetLimit" {
			return true
		}
		of, ok := fun.X.(*ast.Ident)
		return ok && slices.Contains([]string{"turns.New", "budget.New", "fair.NewInbox", "semaphore.NewWeighted"}, of.Name+
			"."+fun.Sel.Name)
	}
	return false
}
