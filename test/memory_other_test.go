//go:build e2e && !linux

package test

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// memory is measured on Linux only.
func memory(*world, *testscript.TestScript, []string) error { return nil }

// residentOf is measured on Linux only.
func residentOf(*testing.T, int) int64 { return 0 }
