package shim

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

const (
	// lookEvery is how often it is looked at what a command uses, and lookShare how much longer than a look the break
	// after it is at least.
	lookEvery = time.Second
	lookShare = 50
	// cullEvery is how often processes are killed of a command that has too many, and oldest how many of the oldest stay:
	// the tool is among them, which was interrupted and may have a state to write.
	cullEvery = 50 * time.Millisecond
	oldest    = 64
)

// usage is what a command uses with all that it has started.
type usage struct {
	cpu     time.Duration
	threads int // of all processes
}

// look has the command end where it uses more than it may: by a SIGINT, and by force after its patience. It returns
// when to look again.
func (k *keeper) look() time.Duration {
	began := time.Now()
	b := &k.begun
	used := k.measure()
	if b.Exceeded == "" {
		over := b.exceeds(used)
		if over != "" {
			over = b.exceeds(k.measure()) // a process that ends during a look may be counted with its parent too
		}
		if over == "" {
			return max(lookEvery, lookShare*time.Since(began))
		}
		b.Exceeded, b.ExceededAt = over, began
		_ = k.folder.write(commandFile, k.begun) // for a shim that adopts the command: without it, it finds out again
		_, _ = k.folder.move(interruptRequest, unset, asked)
	}
	if began.Sub(b.ExceededAt) >= b.Patience {
		_, _ = k.folder.move(killRequest, unset, asked)
	}
	if uint64(used.threads) > b.Limits.Processes {
		k.cull()
		return cullEvery
	}
	return min(lookEvery, max(b.Patience-time.Since(b.ExceededAt), cullEvery))
}

// exceeds says what a command uses too much of, for people; empty for nothing.
func (b begun) exceeds(u usage) string {
	switch most := b.Limits; {
	case most.CPU > 0 && u.cpu > most.CPU:
		return fmt.Sprintf("it used more than the %s of CPU time that the command of a phase may use on this executor "+
			"(max_cpu_time): look for expressions that multiply lists, split the workspace, or have the limit raised", most.CPU)
	case most.Processes > 0 && uint64(u.threads) > most.Processes:
		return fmt.Sprintf("it had more than the %d processes and threads that a command may have at once: look at what its "+
			"provisioners and external programs start", most.Processes)
	}
	return ""
}

// measure finds out what the command uses: each from its cgroup where that counts it, else from its processes.
func (k *keeper) measure() usage {
	cpu, ofGroup := k.begun.groupCPU()
	threads, counted := k.begun.groupThreads()
	if ofGroup && counted {
		return usage{cpu, threads}
	}
	var waited syscall.Rusage // first: what is waited for during the look is in neither, and not in both
	_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &waited)
	used := usage{cpu: time.Duration(waited.Utime.Nano() + waited.Stime.Nano())}
	for _, p := range k.members() {
		used.cpu += p.cpu
		if !p.dead {
			used.threads += p.threads
		}
	}
	if ofGroup { // also of processes for which nobody waited
		used.cpu = cpu
	}
	return used
}

// members are the command's processes but for those that left the session of a command that was adopted, which family
// finds: that takes longer.
func (k *keeper) members() []procStat {
	return k.begun.members(processes(), os.Getpid(), func(int) bool { return false })
}

// groupThreads is how many threads the command's cgroup counts, if it does.
func (b begun) groupThreads() (n int, ok bool) {
	if b.Cgroup == "" {
		return 0, false
	}
	text, err := os.ReadFile(filepath.Join(b.Cgroup, "pids.current"))
	if err != nil {
		return 0, false
	}
	n, err = strconv.Atoi(string(bytes.TrimSpace(text)))
	return n, err == nil
}

// groupCPU is the processors' time that the command's cgroup counts, which takes no controller.
func (b begun) groupCPU() (used time.Duration, ok bool) {
	if b.Cgroup == "" {
		return 0, false
	}
	text, err := os.ReadFile(filepath.Join(b.Cgroup, "cpu.stat"))
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(text) {
		if micro, found := bytes.CutPrefix(line, []byte("usage_usec ")); found {
			n, err := strconv.ParseInt(string(bytes.TrimSpace(micro)), 10, 64)
			return time.Duration(n) * time.Microsecond, err == nil
		}
	}
	return 0, false
}

// cull kills the youngest processes of a command that has too many.
func (k *keeper) cull() {
	all := k.members()
	slices.SortFunc(all, func(a, b procStat) int {
		return cmp.Or(cmp.Compare(a.startTime, b.startTime), cmp.Compare(a.pid, b.pid))
	})
	for _, p := range all[min(oldest, len(all)):] {
		if h, err := (PID{Number: p.pid, StartTime: p.startTime}).open(); err == nil {
			_ = h.signal(syscall.SIGKILL)
			h.close()
		}
	}
}
