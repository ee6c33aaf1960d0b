package sandbox

import "golang.org/x/sys/unix"

const (
	nativeArch = unix.AUDIT_ARCH_X86_64
	// foreignCalls is where the numbers of the x32 interface begin, by which each call has another
	// name.
	foreignCalls = 0x40000000
)
