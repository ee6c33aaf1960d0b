package openapi

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

// Comments are what is written beside the types of a package, by "Type" and "Type.Field".
type Comments map[string]string

// ReadComments reads the comments of the package in a folder.
func ReadComments(folder string) (Comments, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	found, files := Comments{}, token.NewFileSet()
	for _, path := range paths {
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("read comments: %w", err)
		}
		for _, declared := range file.Decls {
			if d, ok := declared.(*ast.GenDecl); ok && d.Tok == token.TYPE {
				found.add(d)
			}
		}
	}
	return found, nil
}

func (c Comments) add(d *ast.GenDecl) {
	for _, s := range d.Specs {
		spec := s.(*ast.TypeSpec)
		c.put(spec.Name.Name, d.Doc, spec.Doc)
		if of, ok := spec.Type.(*ast.StructType); ok {
			c.fields(spec.Name.Name, of)
		}
	}
}

// fields adds those of a struct. Those of a struct within it are found under the empty name, as
// reflection has it.
func (c Comments) fields(owner string, of *ast.StructType) {
	for _, f := range of.Fields.List {
		for _, name := range f.Names {
			c.put(owner+"."+name.Name, f.Doc, f.Comment)
		}
		if inside, ok := f.Type.(*ast.StructType); ok {
			c.fields("", inside)
		}
	}
}

func (c Comments) put(name string, groups ...*ast.CommentGroup) {
	var parts []string
	for _, g := range groups {
		if text := strings.Join(strings.Fields(g.Text()), " "); text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) > 0 {
		c[name] = strings.Join(parts, " ")
	}
}
