//go:build unix

package local

import (
	"errors"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

// take locks a file for this process, and reports whether it could.
func take(file *os.File) (bool, error) {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// hand gives a file to a command: one that outlives this process has what it locks locked still.
func hand(cmd *exec.Cmd, file *os.File) {
	if file != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, file)
	}
}
