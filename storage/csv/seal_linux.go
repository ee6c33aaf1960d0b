package csv

import (
	"io/fs"
	"syscall"

	"github.com/holdfast/holdfast/storage/csv/index"
)

// sealOf uses the change time, which no program can set, unlike the modification time.
func sealOf(info fs.FileInfo) index.Seal {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return index.Seal{Inode: int64(s.Ino), Changed: s.Ctim.Nano()}
	}
	return index.Seal{Changed: info.ModTime().UnixNano()}
}
