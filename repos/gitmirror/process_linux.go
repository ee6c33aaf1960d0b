package gitmirror

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/holdfast/holdfast/internal/nocore"
)

// apart puts a command into a process group of its own, all of which is killed with it.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}

// limit bounds what a process takes, and what its children do, which it has not started yet: they inherit it. A
// process that is gone already needs none.
func limit(pid int, l Limits) error {
	for resource, most := range map[int]int64{
		unix.RLIMIT_AS: l.Memory, unix.RLIMIT_FSIZE: l.Bytes, unix.RLIMIT_CORE: nocore.Limit,
	} {
		err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: uint64(most), Max: uint64(most)}, nil)
		if err != nil && !errors.Is(err, syscall.ESRCH) && !errors.Is(err, syscall.EPERM) {
			return err
		}
	}
	return nil
}

// hold takes the mirror for this process, or says that another one has it. A git process that outlives this one
// holds it on, since it gets the file too.
func hold(file *os.File) error {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return newError(Busy, "another process fetches into this mirror")
	}
	return err
}
