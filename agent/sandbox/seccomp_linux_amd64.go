package sandbox

import "golang.org/x/sys/unix"

const (
	nativeArch = unix.AUDIT_ARCH_X86_64
	// foreignCalls is where the numbers of the x32 interface begin, by which each call has another
	// name.
	foreignCalls = 0x40000000
)

// oldWatches, oldModes and oldOpens are calls that later machines don't have.
func oldWatches() []uint32 { return []uint32{unix.SYS_INOTIFY_INIT} }

func oldModes() map[uint32]uint32 {
	return map[uint32]uint32{unix.SYS_CHMOD: 1, unix.SYS_CREAT: 1, unix.SYS_MKNOD: 1}
}

func oldOpens() map[uint32]uint32 { return map[uint32]uint32{unix.SYS_OPEN: 1} }
