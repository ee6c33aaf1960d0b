//go:build e2e

package test

import (
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/api"
)

// moments are the places of a run at which something is done to it, in the order in which it
// comes through them.
func moments() []string {
	return []string{
		"prepare", "init", "plan", "show", "check", "awaiting",
		"apply's prepare", "apply's init", "apply", "output",
	}
}

// momentOf returns where a run is: one of the moments, "over", or nothing that is said here.
func momentOf(r api.Run) string {
	switch {
	case isOver(r):
		return "over"
	case r.Status == "preparing" && r.Phase == "":
		return "prepare"
	case r.Status == "preparing" || r.Status == "planning":
		return r.Phase
	case r.Status == "checking":
		return "check"
	case r.Status == "awaiting_approval":
		return "awaiting"
	case r.Status == "applying" && r.Phase == "":
		return "apply's prepare"
	case r.Status == "applying" && (r.Phase == "prepare" || r.Phase == "init"):
		return "apply's " + r.Phase
	case r.Status == "applying":
		return r.Phase
	}
	return ""
}

// momentAt returns where a run was at a time, by what is on record of it.
func (b *runBench) momentAt(id string, at time.Time) string {
	b.Helper()
	var then api.Run
	for _, e := range collect(b, b.client.RunEvents(id, 0)) {
		if e.At.After(at) {
			break
		}
		then.Status = e.To
		if e.Type == "claimed" {
			then.Phase = ""
		}
		if phase, begins := strings.CutSuffix(e.Note, " begins"); begins && e.Type == "phase" {
			then.Phase = phase
		}
		if e.Type == "ended" {
			then.FinishedAt = &e.At
		}
	}
	return momentOf(then)
}

// reached waits until a run is at a moment or behind it, and approves of its plan on the way.
func (b *runBench) reached(id, moment string) api.Run {
	b.Helper()
	all := moments()
	return b.until(id, "at "+moment, func(r api.Run) bool {
		now := momentOf(r)
		if now == "over" || slices.Index(all, now) >= slices.Index(all, moment) {
			return true
		}
		if now == "awaiting" {
			b.approve(r)
		}
		return false
	})
}

// checkedSlowly is like slowly, with so large a plan that one can see it being checked.
func checkedSlowly(resources int) string {
	return slowly(resources) + `
output "large" {
  value     = format("%01000000d", 1)
  sensitive = true
}
`
}
