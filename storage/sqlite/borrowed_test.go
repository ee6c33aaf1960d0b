package sqlite

import (
	"go/ast"
	"go/parser"
	source "go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestNothingIsDecodedWhileBorrowed looks at the source: what has a reader, a statement or
// rows in hand copies bytes, and does not decode them. To decode the largest state takes
// seconds, in which the reader would be missing to others, and its snapshot would keep the
// WAL from being emptied.
func TestNothingIsDecodedWhileBorrowed(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files := source.NewFileSet()
	looked := 0
	look := func(n ast.Node) {
		looked++
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && (id.Name == "Codec" || id.Name == "Decode") {
				t.Errorf("%s: a codec is used while a reader is borrowed", files.Position(id.Pos()))
			}
			return true
		})
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if hasReader(n.Type) {
					look(n)
				}
			case *ast.FuncLit:
				if hasReader(n.Type) {
					look(n.Body)
				}
			}
			return true
		})
	}
	if looked < 10 {
		t.Errorf("only %d functions have a reader", looked)
	}
}

// hasReader reports whether a function is given something that is read from.
func hasReader(f *ast.FuncType) bool {
	for _, p := range f.Params.List {
		star, ok := p.Type.(*ast.StarExpr)
		if !ok {
			continue
		}
		switch of := star.X.(type) {
		case *ast.Ident:
			if of.Name == "reader" {
				return true
			}
		case *ast.SelectorExpr:
			if of.Sel.Name == "Rows" || of.Sel.Name == "Stmt" {
				return true
			}
		}
	}
	return false
}
