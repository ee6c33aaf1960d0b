package tools

import (
	"io/fs"
	"syscall"
)

// changeTime is when the file's inode was last changed.
func changeTime(info fs.FileInfo) int64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ctim.Nano()
	}
	return 0
}
