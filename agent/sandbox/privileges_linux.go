package sandbox

import (
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/holdfast/holdfast/internal/nocore"
)

// applyLimits bounds this process and its children. A hard limit that is lower already stays.
func applyLimits(l Limits, r *Report) error {
	l = l.WithDefaults()
	if err := nocore.Set(); err != nil {
		r.because("%v", err)
	}
	limits := []struct {
		name     string
		resource int
		value    uint64
	}{
		{"open files", unix.RLIMIT_NOFILE, l.Files},
		{"processes", unix.RLIMIT_NPROC, perUser * l.Processes},
		{"file sizes", unix.RLIMIT_FSIZE, l.FileSize},
	}
	for _, limit := range limits {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(limit.resource, &now); err != nil {
			return fmt.Errorf("can't read the limit of %s: %w", limit.name, err)
		}
		value := min(limit.value, now.Max)
		// The standard library's call, so that it doesn't put back at exec what it raised.
		if err := syscall.Setrlimit(limit.resource, &syscall.Rlimit{Cur: value, Max: value}); err != nil {
			return fmt.Errorf("can't limit %s: %w", limit.name, err)
		}
	}
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, l.Nice); err != nil && l.Nice > 0 {
		return fmt.Errorf("can't lower the priority: %w", err)
	}
	unix.Umask(0o077)
	// When memory runs out, a command goes before the server does. It is a wish only.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0o600)
	return nil
}

// dropPrivileges becomes the user, if there is one, and gives up all that root can do. Its
// caller stays on this thread until it executes the command, which inherits from the thread.
func dropPrivileges(user *User, r *Report) error {
	root := os.Geteuid() == 0
	if user != nil && !root && (int(user.UID) != os.Geteuid() || int(user.GID) != os.Getegid()) {
		return fmt.Errorf("only root can run a command as user %d", user.UID)
	}
	if root {
		if err := dropBounding(); err != nil {
			return err
		}
	}
	if user != nil && root {
		if err := become(*user); err != nil {
			return err
		}
	}
	if root && (user == nil || user.UID == 0) {
		r.because("the command runs as root, without its capabilities: name a user for it")
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("can't rule out new privileges: %w", err)
	}
	return nil
}

func become(user User) error {
	if err := syscall.Setgroups(nil); err != nil {
		return fmt.Errorf("can't leave root's groups: %w", err)
	}
	if err := syscall.Setgid(int(user.GID)); err != nil {
		return fmt.Errorf("can't become group %d: %w", user.GID, err)
	}
	if err := syscall.Setuid(int(user.UID)); err != nil {
		return fmt.Errorf("can't become user %d: %w", user.UID, err)
	}
	return nil
}

// dropBounding empties the bounding set: what is executed from now on has no capability, not
// even as root. This process keeps its own until then.
func dropBounding() error {
	for capability := 0; capability <= lastCapability(); capability++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(capability), 0, 0, 0); err != nil {
			return fmt.Errorf("can't give up capability %d: %w", capability, err)
		}
	}
	return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
}

func lastCapability() int {
	text, err := os.ReadFile("/proc/sys/kernel/cap_last_cap")
	if err == nil && len(text) > 1 {
		if last, err := strconv.Atoi(string(text[:len(text)-1])); err == nil {
			return last
		}
	}
	return unix.CAP_LAST_CAP
}
