package local

import (
	"os"

	"golang.org/x/sys/unix"
)

// newOutput is a file that is in memory alone.
func newOutput(string) (*os.File, error) {
	fd, err := unix.MemfdCreate("holdfast-output", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "holdfast-output"), nil
}

// forget gives back the memory of what was read; where that can't be, it stays until the tool ends.
func forget(file *os.File, upTo int64) {
	_ = unix.Fallocate(int(file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, upTo)
}
