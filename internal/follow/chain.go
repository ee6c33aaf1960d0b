package follow

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is how many symbolic links a path may go through; Linux has the same limit.
const maxLinks = 40

// chain returns the directory entries that decide what a path leads to: every
// symbolic link on the way, in whatever folder, and the file at its end. In Kubernetes
// these are auth.cfg and ..data, links both, and the file in the dated folder.
func chain(path string) []string {
	path = filepath.Clean(path)
	var entries []string
	for range maxLinks {
		link, rest, ok := firstLink(path)
		if !ok {
			break
		}
		entries = append(entries, link)
		target, err := os.Readlink(link)
		if err != nil {
			return entries
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(link), target)
		}
		path = filepath.Join(target, rest)
	}
	return append(entries, path)
}

// firstLink returns the first part of path that is a symbolic link, and what follows it.
func firstLink(path string) (link, rest string, ok bool) {
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != filepath.Separator {
			continue
		}
		info, err := os.Lstat(path[:i])
		if err != nil {
			return "", "", false
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return path[:i], strings.TrimPrefix(path[i:], string(filepath.Separator)), true
		}
	}
	return "", "", false
}

// chains returns the chains of all paths.
func chains(paths []string) []string {
	var entries []string
	for _, path := range paths {
		entries = append(entries, chain(path)...)
	}
	return entries
}
