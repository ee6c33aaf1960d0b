//go:build unix

package disk

import (
	"io/fs"
	"syscall"
)

// HasOtherNames reports whether a file is known by other names too: then it can be changed by way
// of those.
func HasOtherNames(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && !info.IsDir() && s.Nlink > 1
}
