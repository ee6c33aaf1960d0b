// Package web has the page that people use in their browsers, as `make web` has built it. A
// program that was built without Node has none, and serves everything else.
package web

import (
	"embed"
	"io/fs"
)

// dist has what Vite writes, in a folder that is emptied before each build. The file beside that
// folder is in the repository, so that the program builds without the page.
//
//go:embed all:dist
var dist embed.FS

// Page returns the files of the page; nil where the program was built without it.
func Page() fs.FS {
	files, err := fs.Sub(dist, "dist/page")
	if err != nil {
		return nil
	}
	if _, err := fs.Stat(files, "index.html"); err != nil {
		return nil
	}
	return files
}
