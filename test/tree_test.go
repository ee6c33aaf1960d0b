package test

import (
	"io/fs"
	"path/filepath"
	"testing"
)

// largest is how large a file of the tree may be: what is larger was built, or measured, and does
// not belong there.
const largest = 1 << 20

// generated are files that grow with what there is, and how large each may be.
var generated = map[string]int64{filepath.Join("..", "api", "openapi.json"): 4 << 20}

// TestTreeIsLight finds files that have got in by mistake.
func TestTreeIsLight(t *testing.T) {
	made := map[string]bool{".git": true, "bin": true, "data": true}
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (made[e.Name()] && filepath.Dir(path) == ".." || path == "../web/node_modules" ||
			path == "../web/dist") {
			return fs.SkipDir
		}
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && info.Size() > max(largest, generated[path]) {
			t.Errorf("%s has %d bytes: take it out of the tree", path, info.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
