//go:build unix

package tools

import (
	"os/exec"
	"syscall"
)

// endWithChildren has the end of the command's context end its children too.
func endWithChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
