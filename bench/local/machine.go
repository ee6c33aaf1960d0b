package local

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Machine is what figures were measured on.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Memory int64  `json:"memory_bytes,omitempty"`
	System string `json:"system"`
	Go     string `json:"go"`
	// Load is how many processes wanted to run when the benchmark began, on average over a
	// minute. Above a few tenths, its figures say little.
	Load string `json:"load,omitempty"`
}

// ThisMachine describes the machine; what it can't find out stays empty.
func ThisMachine() Machine {
	m := Machine{Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()}
	if cpus, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		m.CPU = lineOf(cpus, "model name")
	}
	if memory, err := os.ReadFile("/proc/meminfo"); err == nil {
		m.Memory = kilobytes(lineOf(memory, "MemTotal"))
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System += " " + strings.TrimSpace(string(release))
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load, _, _ = strings.Cut(string(load), " ")
	}
	return m
}

// kilobytes reads what Linux says in kB; 0 for anything else.
func kilobytes(text string) int64 {
	kB, err := strconv.ParseInt(strings.TrimSuffix(text, " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return kB << 10
}

// lineOf returns what stands behind a name and a colon.
func lineOf(text []byte, name string) string {
	for line := range bytes.Lines(text) {
		if before, after, ok := strings.Cut(string(line), ":"); ok && strings.TrimSpace(before) == name {
			return strings.TrimSpace(after)
		}
	}
	return ""
}
