//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Where struct seccomp_data has what the filter looks at. Flags are in the lower half of their
// argument, which comes first on these machines.
const (
	dataCall = 0
	dataArch = 4
)

// argument is where it has a call's argument, counted from 0.
func argument(n uint32) uint32 { return 16 + 8*n }

// forbidden are the system calls that no tool, provider or provisioner needs, and by which flaws of the
// kernel are reached: others' memory, keys, mounts, namespaces, modules, programs in the kernel.
func forbidden() []uint32 {
	return []uint32{
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,
		unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
		unix.SYS_MOUNT_SETATTR,
		unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_QUOTACTL,
		unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
		unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
		unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_SETTIMEOFDAY,
		unix.SYS_CLOCK_SETTIME, unix.SYS_QUOTACTL_FD, unix.SYS_FANOTIFY_INIT,
		unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES, unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE,
	}
}

// missing are those that count for what this kernel doesn't have, because programs know another
// way then. Of clone3 and openat2 flags and modes are behind a pointer, where no filter looks. What System V and POSIX
// know for speaking between processes outlives a run, and no limit of it counts that. Watches of files that a command
// can't read tell it what others do there; in namespaces there are no such files.
func missing(reached Level) []uint32 {
	all := []uint32{unix.SYS_CLONE3, unix.SYS_OPENAT2, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP,
		unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SHMDT, unix.SYS_SEMGET, unix.SYS_SEMOP,
		unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
		unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK}
	if reached < Namespaces {
		all = append(append(all, unix.SYS_INOTIFY_INIT1), oldWatches()...)
	}
	return all
}

// ownOnly are the calls that change how a process is scheduled, by the argument that names it. Of others' they would
// slow down the server, which has the same user, for good.
func ownOnly() map[uint32]uint32 {
	return map[uint32]uint32{
		unix.SYS_SETPRIORITY: 1, unix.SYS_IOPRIO_SET: 1, unix.SYS_SCHED_SETSCHEDULER: 0, unix.SYS_SCHED_SETPARAM: 0,
		unix.SYS_SCHED_SETATTR: 0, unix.SYS_SCHED_SETAFFINITY: 0, unix.SYS_PRLIMIT64: 0,
	}
}

// whoIsOne are the values of the first argument of setpriority and ioprio_set by which the second names a process, and
// not a group or a user.
func whoIsOne() map[uint32]uint32 {
	return map[uint32]uint32{unix.SYS_SETPRIORITY: unix.PRIO_PROCESS, unix.SYS_IOPRIO_SET: ioprioWhoProcess}
}

const ioprioWhoProcess = 1

// modes are the calls that give a file its mode, by the argument that has it.
func modes() map[uint32]uint32 {
	all := map[uint32]uint32{unix.SYS_FCHMOD: 1, unix.SYS_FCHMODAT: 2, unix.SYS_FCHMODAT2: 2, unix.SYS_MKNODAT: 2}
	maps.Copy(all, oldModes())
	return all
}

// becomes are the bits of a mode by which whoever executes the file becomes its user or group.
const becomes = unix.S_ISUID | unix.S_ISGID

// creates are the flags of open by which it has a mode: O_CREAT, and O_TMPFILE without O_DIRECTORY.
const creates = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY

// newNamespaces are the flags by which a new process gets namespaces of its own.
const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID |
	unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// filterCalls closes system calls to this thread, and to what it becomes and starts, for good.
// New privileges have to be ruled out before.
func filterCalls(r *Report) error {
	program := callFilter(r.Level)
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&filter)))
	switch {
	case errno == 0:
		return nil
	case errors.Is(errno, unix.ENOSYS), errors.Is(errno, unix.EINVAL):
		r.because("system calls are not filtered: this kernel has no filters of them")
		return nil
	}
	return fmt.Errorf("can't filter system calls: %w", errno)
}

// callFilter is the filter's program. A call of another machine's kind, such as one of 32 bits,
// would have another number, so there is none.
func callFilter(reached Level) []unix.SockFilter {
	program := []unix.SockFilter{
		load32(dataArch), jumpUnless(nativeArch, 1), jump(1), answer(unix.SECCOMP_RET_KILL_PROCESS), load32(dataCall),
	}
	if foreignCalls > 0 {
		program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, Jf: 1, K: foreignCalls},
			fails(unix.ENOSYS))
	}
	for _, call := range missing(reached) {
		program = append(program, jumpUnless(call, 1), fails(unix.ENOSYS))
	}
	for _, call := range forbidden() {
		program = append(program, jumpUnless(call, 1), fails(unix.EPERM))
	}
	program = slices.Concat(program, ownFilter(), modeFilter(), socketFilter())
	return append(program,
		jumpUnless(unix.SYS_CLONE, 3), load32(argument(0)),
		jumpUnlessAny(newNamespaces, 1), fails(unix.EPERM),
		answer(unix.SECCOMP_RET_ALLOW))
}

// socketFilter leaves the kinds of sockets that tools, providers and provisioners use. Others reach what no filter of
// addresses knows, such as the host of a virtual machine, and parts of the kernel that few look at. Of netlink it
// leaves what tells of interfaces and routes: another part lists the sockets of everybody who shares the network, with
// their paths.
func socketFilter() (program []unix.SockFilter) {
	decide := []unix.SockFilter{load32(argument(0))}
	for _, family := range []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6} {
		decide = append(decide, jumpUnless(family, 1), answer(unix.SECCOMP_RET_ALLOW))
	}
	decide = append(decide, jumpUnless(unix.AF_NETLINK, 3), load32(argument(2)), jumpUnless(unix.NETLINK_ROUTE, 1),
		answer(unix.SECCOMP_RET_ALLOW), fails(unix.EAFNOSUPPORT))
	for _, call := range []uint32{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR} {
		program = append(append(program, jumpUnless(call, uint8(len(decide)))), decide...)
	}
	return program
}

// ownFilter leaves a process its own limits and priorities to set: those of another one of the same user, such as the
// server, can end it.
func ownFilter() (program []unix.SockFilter) {
	for _, call := range slices.Sorted(maps.Keys(ownOnly())) {
		decide := []unix.SockFilter{load32(argument(ownOnly()[call])), jumpUnless(0, 1), answer(unix.SECCOMP_RET_ALLOW),
			fails(unix.EPERM)}
		if one, ok := whoIsOne()[call]; ok {
			decide = slices.Concat([]unix.SockFilter{load32(argument(0)), jumpUnless(one, 3)}, decide)
		}
		program = append(append(program, jumpUnless(call, uint8(len(decide)))), decide...)
	}
	return program
}

// modeFilter leaves all modes but those by which others become whom the command runs as, wherever the file is.
func modeFilter() (program []unix.SockFilter) {
	refuse := func(mode uint32) []unix.SockFilter {
		return []unix.SockFilter{load32(argument(mode)), jumpUnlessAny(becomes, 1), fails(unix.EPERM),
			answer(unix.SECCOMP_RET_ALLOW)}
	}
	for _, call := range slices.Sorted(maps.Keys(modes())) {
		decide := refuse(modes()[call])
		program = append(append(program, jumpUnless(call, uint8(len(decide)))), decide...)
	}
	for _, call := range slices.Sorted(maps.Keys(opens())) {
		flags := opens()[call]
		decide := slices.Concat([]unix.SockFilter{load32(argument(flags)), jumpUnlessAny(creates, 3)}, refuse(flags+1))
		program = append(append(program, jumpUnless(call, uint8(len(decide)))), decide...)
	}
	return program
}

// opens are the calls that open a file by a path, by the argument that has the flags; the mode follows.
func opens() map[uint32]uint32 {
	all := map[uint32]uint32{unix.SYS_OPENAT: 2}
	maps.Copy(all, oldOpens())
	return all
}

func load32(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

// jumpUnless goes over so many instructions unless the value is k.
func jumpUnless(k uint32, over uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: over, K: k}
}

// jumpUnlessAny goes over so many instructions unless the value has any of the bits.
func jumpUnlessAny(bits uint32, over uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jf: over, K: bits}
}

func jump(over uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JA, K: over}
}

func answer(verdict uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: verdict}
}

func fails(errno unix.Errno) unix.SockFilter { return answer(unix.SECCOMP_RET_ERRNO | uint32(errno)) }
