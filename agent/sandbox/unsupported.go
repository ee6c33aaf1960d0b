//go:build !linux

package sandbox

import "errors"

// Enter fails: a command can be closed in on Linux only.
func Enter() error { return errors.New("runs can be executed on Linux only") }

// Probe says that nothing can be closed on this system.
func Probe(Policy) Report {
	return Report{Network: "open", Why: []string{"runs can be executed on Linux only"}}
}

// Exposed is for systems where commands can be closed in.
func Exposed(string) string { return "" }

// Installed is empty: there is no bubblewrap here.
func Installed() string { return "" }
