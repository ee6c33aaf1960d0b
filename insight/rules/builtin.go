package rules

import (
	"embed"
	"io/fs"
)

//go:embed bundle
var bundle embed.FS

// Builtin compiles the rules that come with the program. Each looks at resources of its own types,
// one at a time.
func Builtin(limits Limits) (*Set, error) {
	files, err := fs.Sub(bundle, "bundle")
	if err != nil {
		return nil, err
	}
	set, err := Compile(files, limits)
	if err != nil {
		return nil, err
	}
	set.whole = false
	return set, nil
}
