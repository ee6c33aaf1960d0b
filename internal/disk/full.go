package disk

import (
	"errors"
	"syscall"
)

// NoRoom reports whether an error is the system's way to say that a disk, or somebody's share
// of it, is full.
func NoRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
