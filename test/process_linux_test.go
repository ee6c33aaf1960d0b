//go:build e2e

package test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"syscall"
)

// dieWithParent lets the kernel stop the process when the tests die before they could.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }

// becomes has root's process be another account's, which is in no group.
func becomes(cmd *exec.Cmd, account uint32) {
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: account, Gid: account}
}

// ownLoopback returns a loopback address of a script's own, so that nobody takes the
// server's port while it is down.
func ownLoopback() string {
	return fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
}
