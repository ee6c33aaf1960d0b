package shim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// errGone says that a process is no more, or that its number is another one's by now.
var errGone = errors.New("the process is gone")

func bootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
}

// ourselves is the identity of a shim that is this process.
func ourselves() (Identity, error) {
	boot, err := bootID()
	if err != nil {
		return Identity{}, err
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return Identity{}, err
	}
	self, err := pidOf(os.Getpid())
	return Identity{BootID: boot, PIDs: namespace, Shim: self}, err
}

// procStat is what /proc says of a process.
type procStat struct {
	pid, parent, session int
	dead                 bool // it waits only for its parent to hear of it
	threads              int
	cpu                  time.Duration // that it used, with its children that have ended and that it has waited for
	startTime            uint64
}

// tick is the unit of times in /proc, on all machines.
const tick = time.Second / 100

// readStat fails with errGone for a process that isn't there.
func readStat(pid int) (procStat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return procStat{}, errGone
	}
	if err != nil {
		return procStat{}, err
	}
	// The name, in parentheses, may have anything in it.
	_, rest, ok := bytes.Cut(text[bytes.LastIndexByte(text, ')')+1:], []byte(" "))
	fields := strings.Fields(string(rest))
	if !ok || len(fields) < 20 {
		return procStat{}, fmt.Errorf("can't read /proc/%d/stat", pid)
	}
	s := procStat{pid: pid, dead: fields[0] == "Z" || fields[0] == "X"}
	s.parent, _ = strconv.Atoi(fields[1]) // the kernel wrote them
	s.session, _ = strconv.Atoi(fields[3])
	s.threads, _ = strconv.Atoi(fields[17])
	for _, field := range fields[11:15] {
		ticks, _ := strconv.ParseInt(field, 10, 64)
		s.cpu += time.Duration(ticks) * tick
	}
	s.startTime, err = strconv.ParseUint(fields[19], 10, 64)
	return s, err
}

func pidOf(number int) (PID, error) {
	stat, err := readStat(number)
	return PID{Number: number, StartTime: stat.startTime}, err
}

// handle is a process that stays the same one, whatever becomes of its number.
type handle struct{ file *os.File }

// open fails with errGone when the process has ended, or the number has become another's. The
// order makes that sure: what is held is looked at.
func (p PID) open() (handle, error) {
	if p.Number <= 0 {
		return handle{}, errGone
	}
	fd, err := unix.PidfdOpen(p.Number, unix.PIDFD_NONBLOCK)
	switch {
	case errors.Is(err, unix.ESRCH):
		return handle{}, errGone
	case err != nil:
		return handle{}, fmt.Errorf("can't hold process %d: %w", p.Number, err)
	}
	h := handle{os.NewFile(uintptr(fd), "process")}
	stat, err := readStat(p.Number)
	if err == nil && (stat.startTime != p.StartTime || stat.dead) {
		err = errGone
	}
	if err != nil {
		h.close()
		return handle{}, err
	}
	return h, nil
}

func (h handle) close() { _ = h.file.Close() }

func (h handle) signal(s syscall.Signal) error {
	var sent error
	err := h.with(func(fd uintptr) { sent = unix.PidfdSendSignal(int(fd), s, nil, 0) })
	if err = errors.Join(err, sent); errors.Is(err, unix.ESRCH) {
		return errGone
	}
	return err
}

func (h handle) with(f func(fd uintptr)) error {
	raw, err := h.file.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(f)
}

// wait returns when the process has ended, or with the context's error.
func (h handle) wait(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = h.file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	raw, err := h.file.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(ready, 0)
		if err != nil && !errors.Is(err, unix.EINTR) {
			failed = err
		}
		return n > 0 || failed != nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(err, failed)
}

// lives says whether this very process does.
func (p PID) lives() (bool, error) {
	h, err := p.open()
	if errors.Is(err, errGone) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	h.close()
	return true, nil
}
