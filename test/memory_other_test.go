//go:build e2e && !linux

package test

import "github.com/rogpeppe/go-internal/testscript"

// memory is measured on Linux only.
func memory(*world, *testscript.TestScript, []string) error { return nil }
