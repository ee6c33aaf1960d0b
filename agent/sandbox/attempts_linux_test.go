package sandbox

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// try does what a hostile command might, with system calls where a shell has no words for it.
func try(what string, args []string) error {
	number := func(i int) int { n, _ := strconv.Atoi(args[i]); return n }
	switch what {
	case "signal":
		return syscall.Kill(number(0), 0)
	case "ptrace":
		return syscall.PtraceAttach(number(0))
	case "limit":
		none := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
		return unix.Prlimit(number(0), unix.RLIMIT_CPU, &none, nil)
	case "limit-itself":
		none := unix.Rlimit{Cur: 1 << 20, Max: 1 << 20}
		return errors.Join(unix.Prlimit(0, unix.RLIMIT_CPU, &none, nil), unix.Setrlimit(unix.RLIMIT_CPU, &none))
	case "shared-memory":
		_, _, errno := syscall.Syscall(syscall.SYS_SHMGET, 0, 4096, 0o600|unix.IPC_CREAT) // IPC_PRIVATE
		return asError(errno)
	case "message-queue":
		_, _, errno := syscall.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(&[]byte("holdfast-test\x00")[0])),
			unix.O_CREAT|unix.O_RDWR, 0o600, 0, 0, 0)
		return asError(errno)
	case "priority":
		return unix.Setpriority(number(0), number(1), 19)
	case "affinity":
		var set unix.CPUSet
		return errors.Join(unix.SchedGetaffinity(0, &set), unix.SchedSetaffinity(number(0), &set))
	case "scheduler":
		return unix.SchedSetAttr(number(0), &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_BATCH}, 0)
	case "io-priority":
		_, _, errno := syscall.Syscall(unix.SYS_IOPRIO_SET, uintptr(number(0)), uintptr(number(1)), 3<<13)
		return asError(errno)
	case "watch":
		_, err := unix.InotifyInit1(unix.IN_CLOEXEC)
		return err
	case "mode":
		mode, _ := strconv.ParseUint(args[1], 8, 32)
		return errors.Join(syscall.Chmod(args[0], uint32(mode)))
	case "create":
		mode, _ := strconv.ParseUint(args[1], 8, 32)
		fd, err := unix.Open(args[0], unix.O_CREAT|unix.O_WRONLY|unix.O_EXCL, uint32(mode))
		if err != nil {
			return err
		}
		return unix.Close(fd)
	case "read-memory":
		var word [8]byte
		local := []unix.Iovec{{Base: &word[0], Len: 8}}
		_, err := unix.ProcessVMReadv(number(0), local, []unix.RemoteIovec{{Base: uintptr(number(1)), Len: 8}}, 0)
		return err
	case "steal-fd":
		pidfd, err := unix.PidfdOpen(number(0), 0)
		if err != nil {
			return err
		}
		_, err = unix.PidfdGetfd(pidfd, 0, 0)
		return err
	case "mount":
		return syscall.Mount("none", args[0], "tmpfs", 0, "")
	case "chroot":
		return syscall.Chroot(args[0])
	case "unshare":
		return errors.Join(syscall.Unshare(syscall.CLONE_NEWUSER|syscall.CLONE_NEWNS),
			syscall.Mount("none", args[0], "tmpfs", 0, ""))
	case "user-namespace":
		return syscall.Unshare(syscall.CLONE_NEWUSER)
	case "child-in-namespaces":
		return startWith(syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET)
	case "traced":
		return raw(syscall.SYS_PTRACE, syscall.PTRACE_TRACEME)
	case "keyring":
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
		return err
	case "fault-handler":
		return raw(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|1) // of one's own faults only, which needs no privileges
	case "rings":
		return raw(unix.SYS_IO_URING_SETUP, 0)
	case "handle":
		return openByHandle(args[0])
	case "become-root":
		return errors.Join(syscall.Setuid(0), syscall.Setgid(0))
	case "capabilities":
		return haveNone()
	case "tcp":
		return dial("tcp", args[0])
	case "tcp6":
		return mapped(netip.MustParseAddrPort(args[0]))
	case "udp":
		return dial("udp", args[0])
	case "udp-unconnected":
		return send(args[0])
	case "mptcp":
		return multipath(number(0))
	case "unix":
		return dial("unix", args[0])
	case "listen":
		return listen(args[0], args[1])
	case "socket":
		fd, err := syscall.Socket(number(0), number(1), number(2))
		if err != nil {
			return err
		}
		return syscall.Close(fd)
	case "socket-pair":
		_, err := syscall.Socketpair(number(0), number(1), 0)
		return err
	}
	return fmt.Errorf("there is no attempt %q", what)
}

func asError(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

// raw makes a system call. One whose arguments the kernel dislikes got through to it.
func raw(call, argument uintptr) error {
	_, _, errno := syscall.Syscall(call, argument, 0, 0)
	if errno == 0 || errno == syscall.EINVAL || errno == syscall.EFAULT {
		return nil
	}
	return errno
}

// startWith starts a process in namespaces of its own.
func startWith(flags uintptr) error {
	process, err := os.StartProcess("/bin/true", []string{"true"},
		&os.ProcAttr{Sys: &syscall.SysProcAttr{Cloneflags: flags}})
	if err != nil {
		return err
	}
	_, err = process.Wait()
	return err
}

func openByHandle(path string) error {
	handle, mount, err := unix.NameToHandleAt(unix.AT_FDCWD, path, 0)
	if err != nil {
		return err
	}
	_ = mount
	root, err := unix.Open("/usr", unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	fd, err := unix.OpenByHandleAt(root, handle, unix.O_RDONLY)
	if err != nil {
		return err
	}
	_, err = unix.Read(fd, make([]byte, 8))
	return err
}

// haveNone fails unless this process has no capability and can't get one.
func haveNone() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return err
	}
	for _, set := range sets {
		if set.Effective|set.Permitted|set.Inheritable != 0 {
			return fmt.Errorf("there are capabilities: %+v", sets)
		}
	}
	if on, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || on != 1 {
		return fmt.Errorf("new privileges are not ruled out: %d, %v", on, err)
	}
	return nil
}

func dial(network, address string) error {
	conn, err := net.DialTimeout(network, address, 5*time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte("x"))
	return err
}

func listen(network, address string) error {
	listener, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	return listener.Close()
}

// mapped connects to an IPv4 address by a socket of IPv6.
func mapped(to netip.AddrPort) error {
	fd, err := syscall.Socket(syscall.AF_INET6, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return syscall.Connect(fd, &syscall.SockaddrInet6{Port: int(to.Port()), Addr: to.Addr().As16()})
}

func send(address string) error {
	conn, err := net.ListenPacket("udp", ":0")
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.WriteTo([]byte("x"), net.UDPAddrFromAddrPort(netip.MustParseAddrPort(address)))
	return err
}

func multipath(port int) error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, unix.IPPROTO_MPTCP)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return syscall.Connect(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
}
