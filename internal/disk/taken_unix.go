//go:build unix

package disk

import (
	"io/fs"
	"syscall"
)

// blockBytes is the unit in which systems count what a file takes.
const blockBytes = 512

// Taken is how much room a file takes: of one with holes less than its size.
func Taken(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * blockBytes
	}
	return info.Size()
}
