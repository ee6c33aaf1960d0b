package test

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// TestLayoutOfImports wants the standard library's packages first, then those of
// others, then ours, each group behind an empty line and none twice.
func TestLayoutOfImports(t *testing.T) {
	for _, path := range filesWith(t, ".go") {
		files := token.NewFileSet()
		last, group := 0, 0
		file := parse(t, files, path)
		if strings.HasSuffix(path, ".pb.go") {
			continue // in its generator's order
		}
		for i, spec := range file.Imports {
			line := files.Position(spec.Pos()).Line
			wanted := groupOf(t, spec)
			apart := line > last+1
			if i > 0 && (wanted < group || (wanted > group) != apart) {
				t.Errorf("%s:%d: %s is in the wrong group of imports, or its group is in parts", path, line, spec.Path.Value)
			}
			last, group = files.Position(spec.End()).Line, wanted
		}
	}
}

// groupOf is 0 for a package of the standard library, 1 for one of others, 2 for one of ours.
func groupOf(t *testing.T, spec *ast.ImportSpec) int {
	t.Helper()
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(path, "/")
	switch {
	case strings.HasPrefix(path, module):
		return 2
	case strings.Contains(first, "."):
		return 1
	}
	return 0
}
