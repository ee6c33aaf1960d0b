package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/holdfast/holdfast/bench"
)

// point is one place on a curve.
type point struct {
	Curve string `json:"curve"`
	X     int    `json:"x"` // how much there was of what the curve's name says
	bench.Result
	CPU      float64 `json:"cpu_seconds_per_1000"`
	Resident int64   `json:"resident_bytes"`
	Peak     int64   `json:"peak_memory_bytes"`
	Disk     int64   `json:"disk_bytes"`
	Start    float64 `json:"start_seconds"` // from the process's start to ready
}

const csvHeader = "curve,x,step,operations_per_second,p50_ms,p99_ms,errors,waits,cpu_seconds_per_1000,resident_mib,peak_mib,disk_mib,start_seconds"

// print writes a line for the whole operation and one for each of its steps.
func (p point) print(out io.Writer) {
	p.line(out, "all", p.Latency)
	for _, step := range slices.Sorted(maps.Keys(p.Steps)) {
		p.line(out, step, p.Steps[step])
	}
}

func (p point) line(out io.Writer, step string, l bench.Latency) {
	mebibytes := func(n int64) float64 { return float64(n) / (1 << 20) }
	fmt.Fprintf(out, "%s,%d,%s,%.1f,%.3f,%.3f,%d,%d,%.3f,%.1f,%.1f,%.1f,%.3f\n", p.Curve, p.X, step, p.PerSecond, l.P50,
		l.P99,
		p.Failed(), p.Waits, p.CPU, mebibytes(p.Resident), mebibytes(p.Peak), mebibytes(p.Disk), p.Start)
}
