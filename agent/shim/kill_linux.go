package shim

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// signalLeader sends it to the command itself, and to nobody that it started: providers and
// what a provisioner runs are its to end.
func (k *keeper) signalLeader(s syscall.Signal) {
	if h, err := k.begun.Command.open(); err == nil {
		_ = h.signal(s) // it fails when the command has ended
		h.close()
	}
}

// killAll kills what there is of the command just now, itself included.
func (k *keeper) killAll() {
	if k.begun.Cgroup != "" {
		_ = os.WriteFile(filepath.Join(k.begun.Cgroup, "cgroup.kill"), []byte("1"), 0) // what it misses is found below
	}
	for _, pid := range k.family() {
		if h, err := pid.open(); err == nil {
			_ = h.signal(syscall.SIGKILL)
			h.close()
		}
	}
}

// killRest kills what the command left behind, until nothing is left, and says how many
// processes that were. Each round also finds what was born during the one before.
func (k *keeper) killRest(gone <-chan struct{}) (left int) {
	select {
	case <-gone: // as a rule; to look through all processes of the machine takes its time
		if len(k.begun.grouped()) == 0 {
			return 0
		}
	case <-time.After(reaping):
	}
	left = len(k.family())
	late := time.After(unkillable)
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		select {
		case <-gone:
			return left
		case <-late:
			return left
		default:
			k.killAll()
		}
		select {
		case <-gone:
		case <-time.After(pause):
		}
	}
}

// reaping is how long it may take to hear that a command has left nothing behind.
const reaping = 2 * time.Millisecond

// family is the command's processes: what the shim, which inherits its orphans, has below it.
func (k *keeper) family() []PID { return k.begun.family(os.Getpid()) }

// family is what is below this process, if it is none of 0, and the command with what it
// started. Where its shim was killed the latter is found by the cgroup, which nobody leaves;
// and where there is none by parents, by the session that the first shim made, and by the
// mark in the environment, all of which who means to can leave.
func (b begun) family(above int) []PID {
	var found []PID
	for _, p := range b.members(processes(), above, b.marks) {
		if !p.dead {
			found = append(found, PID{Number: p.pid, StartTime: p.startTime})
		}
	}
	return found
}

// members are those of all processes that are the command's, as family has them, and those that have ended and that
// nobody has waited for.
func (b begun) members(all []procStat, above int, marks func(pid int) bool) []procStat {
	session, grouped := b.session(all), b.grouped()
	mine := map[int]bool{}
	if above > 0 {
		mine[above] = true
	}
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if mine[p.pid] {
				continue
			}
			if mine[p.parent] || p.session == session || p.is(b.Command) || grouped[p.pid] || marks(p.pid) {
				mine[p.pid], grown = true, true
			}
		}
	}
	return slices.DeleteFunc(all, func(p procStat) bool { return !mine[p.pid] || p.pid == above || p.is(b.Shim) })
}

// grouped are the processes of the command's cgroup.
func (b begun) grouped() map[int]bool {
	if b.Cgroup == "" {
		return nil
	}
	text, _ := os.ReadFile(filepath.Join(b.Cgroup, "cgroup.procs"))
	members := map[int]bool{}
	for line := range strings.FieldsSeq(string(text)) {
		pid, _ := strconv.Atoi(line) // the kernel wrote it
		members[pid] = true
	}
	return members
}

// markVariable is in the environment of a command and, unless they take it away, of what it
// starts. Its value is the command's folder.
const markVariable = "HOLDFAST_COMMAND"

func (b begun) marks(pid int) bool {
	if b.Mark == "" {
		return false
	}
	environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && bytes.Contains(append(environment, 0), []byte(markVariable+"="+b.Mark+"\x00"))
}

// session is the number of the command's session, or -1 when a stranger has that number now:
// it is free for others only when nobody is left in ours.
func (b begun) session(all []procStat) int {
	for _, p := range all {
		if p.pid == b.Session && !p.is(b.Shim) {
			return -1
		}
	}
	return b.Session
}

func (s procStat) is(p PID) bool { return s.pid == p.Number && s.startTime == p.StartTime }

// processes is all that can be seen of the machine's.
func processes() []procStat {
	entries, _ := os.ReadDir("/proc")
	var all []procStat
	for _, entry := range entries {
		number, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if stat, err := readStat(number); err == nil {
			all = append(all, stat)
		}
	}
	return all
}

// outOfMemoryKills is how many processes the kernel has killed for want of memory.
func outOfMemoryKills() uint64 {
	text, _ := os.ReadFile("/proc/vmstat")
	for line := range bytes.Lines(text) {
		if count, ok := bytes.CutPrefix(line, []byte("oom_kill ")); ok {
			kills, _ := strconv.ParseUint(string(bytes.TrimSpace(count)), 10, 64) // the kernel wrote it
			return kills
		}
	}
	return 0
}
