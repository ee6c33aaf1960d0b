package main

import "testing"

// TestDaysWithoutTrend refuses a number of days that nobody would look at.
func TestDaysWithoutTrend(t *testing.T) {
	goldenShell(t).refuse(exitUsage, "--days goes with --trend", "layer", "drift", "--days", "7")
}
