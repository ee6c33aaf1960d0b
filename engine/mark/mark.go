// Package mark holds the mark of values that people must not be shown.
package mark

import "github.com/zclconf/go-cty/cty"

type kind string

// Sensitive marks a value that is shown to nobody.
const Sensitive = kind("sensitive")

// Paths lists the paths in value that are sensitive, and returns it without marks.
func Paths(value cty.Value) (cty.Value, []cty.Path) {
	bare, marked := value.UnmarkDeepWithPaths()
	var paths []cty.Path
	for _, m := range marked {
		if _, ok := m.Marks[Sensitive]; ok {
			paths = append(paths, m.Path)
		}
	}
	return bare, paths
}

// Apply marks the paths in value. Paths that it doesn't have are passed over.
func Apply(value cty.Value, paths []cty.Path) cty.Value {
	if len(paths) == 0 || value == cty.NilVal {
		return value
	}
	var marks []cty.PathValueMarks
	for _, p := range paths {
		marks = append(marks, cty.PathValueMarks{Path: p, Marks: cty.NewValueMarks(Sensitive)})
	}
	return value.MarkWithPaths(marks)
}
