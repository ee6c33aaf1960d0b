package shim

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// signalLeader sends it to the command itself, and to nobody that it started: providers and
// what a provisioner runs are its to end.
func (k *keeper) signalLeader(s syscall.Signal) {
	if k.leader != nil {
		_ = k.leader.Signal(s) // it fails when the command has ended
		return
	}
	if h, err := k.begun.Command.open(); err == nil {
		_ = h.signal(s)
		h.close()
	}
}

// killAll kills what there is of the command just now, itself included.
func (k *keeper) killAll() (found int) {
	if k.cgroup != "" {
		_ = os.WriteFile(k.cgroup+"/cgroup.kill", []byte("1"), 0)
	}
	for _, pid := range k.family() {
		h, err := pid.open()
		if err != nil {
			continue
		}
		found++
		_ = h.signal(syscall.SIGKILL)
		h.close()
	}
	return found
}

// killRest kills what the command left behind, until nothing is left, and says how many there
// were. Each round also finds what was born during the one before.
func (k *keeper) killRest(gone <-chan struct{}) (left int) {
	late := time.After(unkillable)
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		select {
		case <-gone:
			return left
		default:
		}
		left += k.killAll()
		select {
		case <-gone:
			return left
		case <-late:
			return left
		case <-time.After(pause):
		}
	}
}

// family is the command's processes: the descendants of the shim and of the command, and what
// is in the session that the first shim made.
func (k *keeper) family() []PID {
	all := processes()
	session := k.session(all)
	mine := map[int]bool{os.Getpid(): true}
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if mine[p.pid] {
				continue
			}
			if mine[p.parent] || p.session == session || p.is(k.begun.Command) {
				mine[p.pid], grown = true, true
			}
		}
	}
	var found []PID
	for _, p := range all {
		if mine[p.pid] && !p.dead && p.pid != os.Getpid() {
			found = append(found, PID{Number: p.pid, StartTime: p.startTime})
		}
	}
	return found
}

// session is the number of the command's session, or -1 when a stranger has that number now:
// it is free for others only when nobody is left in ours.
func (k *keeper) session(all []procStat) int {
	for _, p := range all {
		if p.pid == k.begun.Session && !p.is(k.begun.Shim) {
			return -1
		}
	}
	return k.begun.Session
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
