package nocore

import (
	"bytes"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Set has this process, and all that it starts, leave no core dump. It fails where one may be left all the same.
func Set() error {
	err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: Limit, Max: Limit})
	if err == nil {
		return nil
	}
	// Somebody has set the limit to 0, and only root may raise it.
	var now unix.Rlimit
	if asked := unix.Getrlimit(unix.RLIMIT_CORE, &now); asked != nil || now.Cur > Limit {
		return errors.Join(err, asked)
	}
	pattern, asked := os.ReadFile("/proc/sys/kernel/core_pattern")
	if asked == nil && !bytes.HasPrefix(pattern, []byte("|")) {
		return nil
	}
	return errors.New("the limit of core dumps is 0 and can't be made 1: with 0, they are still piped to the system's program")
}

// Hide keeps other processes of the user from reading this one's memory, and its part of /proc. What it starts is not
// hidden. A process must not hide itself that makes a sandbox without being root, since it writes to its own part of
// /proc for that, nor one whose environment others look for it by.
func Hide() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
