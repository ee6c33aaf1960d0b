//go:build e2e

package test

import (
	"os"
	"time"
)

// measuresBriefly is the usual run. HOLDFAST_TORTURE=1, which `make torture` sets, measures for
// as long as it may.
func measuresBriefly() bool { return os.Getenv("HOLDFAST_TORTURE") != "1" }

// brief returns how long a measurement takes.
func brief(usual, torture time.Duration) time.Duration {
	if measuresBriefly() {
		return usual
	}
	return torture
}
