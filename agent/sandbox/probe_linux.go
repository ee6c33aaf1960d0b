package sandbox

import (
	"fmt"
	"os"
)

// Probe says what a command with this policy would reach on this machine.
func Probe(p Policy) Report {
	c := Confine(p, Limits{}, fmt.Sprintf("probe-%d", os.Getpid()))
	defer func() { _ = c.Close(); RemoveCgroup(c.Cgroup) }()
	r := c.Report
	switch abi := landlockABI(); {
	case p.Open:
	case abi < abiTruncate:
		r.withoutLandlock(abi)
	default:
		r.Level = max(r.Level, p.byLandlock())
	}
	r.settle()
	return r
}
