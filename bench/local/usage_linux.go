package local

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// ticks is what a second has in /proc: 100 on every Linux that Go runs on.
const ticks = 100

// Usage reads what the process has used.
func (p *Process) Usage() (u Usage, err error) {
	pid := p.cmd.Process.Pid
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u, err
	}
	if u.CPU, err = processorTime(stat); err != nil {
		return u, err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return u, err
	}
	u.Resident, u.Peak = kilobytes(lineOf(status, "VmRSS")), kilobytes(lineOf(status, "VmHWM"))
	u.Flushes = flushes(p.dir)
	return u, nil
}

// processorTime reads utime and stime out of /proc/PID/stat (proc(5)): the 14th and 15th
// field, counted behind the name, which may have spaces.
func processorTime(stat []byte) (float64, error) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, errors.New("/proc says nothing of the processor's time")
	}
	user, err := strconv.ParseFloat(string(fields[11]), 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseFloat(string(fields[12]), 64)
	return (user + system) / ticks, err
}

// flushes reads how many flushes the disk below dir has done: the 16th figure of its stat
// (the kernel's Documentation/block/stat.rst).
func flushes(dir string) int64 {
	info, err := os.Stat(dir)
	if err != nil {
		return -1
	}
	file, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return -1
	}
	device := fmt.Sprintf("/sys/dev/block/%d:%d", file.Dev>>8&0xfff, file.Dev&0xff|file.Dev>>12&0xfff00)
	if _, err := os.Stat(device + "/partition"); err == nil {
		device += "/.." // a partition leaves them to its disk
	}
	stat, err := os.ReadFile(device + "/stat")
	figures := bytes.Fields(stat)
	if err != nil || len(figures) < 16 {
		return -1
	}
	n, err := strconv.ParseInt(string(figures[15]), 10, 64)
	if err != nil {
		return -1
	}
	return n
}
