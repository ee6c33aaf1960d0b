//go:build unix

package local

import (
	"os/exec"
	"syscall"
)

// apart puts a command into a process group of its own: a signal at the terminal reaches it once, by Cancel, and not
// twice, which would kill it before it has saved its state.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
