package server

import (
	"net"
	"os"
	"syscall"
)

// isOwnPeer reports whether the process at the other end of a socket is run by the server's own user,
// or by root.
func isOwnPeer(conn net.Conn) bool {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	var peer *syscall.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		peer, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	return err == nil && failed == nil && isOwnUser(peer.Uid)
}

func isOwnUser(uid uint32) bool { return uid == 0 || int(uid) == os.Geteuid() }
