//go:build !linux

package sandbox

import "errors"

// Enter fails: a command can be closed in on Linux only.
func Enter() error { return errors.New("runs can be executed on Linux only") }
