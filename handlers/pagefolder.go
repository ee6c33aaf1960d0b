package handlers

import (
	"io/fs"
	"log/slog"
	"sync"
	"time"
)

// builtName is the file of a folder that a build writes after all others, and takes away when it
// begins.
const builtName = ".built"

// pageFolder is a page that may not be built yet, or be built anew while the server runs.
type pageFolder struct {
	from fs.FS
	log  *slog.Logger

	mu    sync.Mutex
	built time.Time // of what was read
	read  map[string]*pageFile
}

// files returns what the last build has made, or the one before it while one is under way; none
// before the first.
func (f *pageFolder) files() map[string]*pageFile {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := fs.Stat(f.from, builtName)
	if err != nil || info.ModTime().Equal(f.built) {
		return f.read
	}
	files, err := readPage(f.from)
	if err != nil {
		f.log.Warn("the page can't be read from its folder", "error", err)
		return f.read
	}
	if files[indexName] != nil {
		f.read, f.built = files, info.ModTime()
	}
	return f.read
}
