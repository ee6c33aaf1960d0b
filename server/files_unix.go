//go:build unix

package server

import (
	"io/fs"
	"os"
	"syscall"
)

// openFiles returns how many files the process may have open: the hard limit, to which the
// runtime raises the soft one at start. 0 if that can't be found out.
func openFiles() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return uint64(limit.Cur) // signed on some systems
}

// isOwnFile reports whether a file is of the server's own user.
func isOwnFile(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
