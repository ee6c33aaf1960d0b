package layers

import (
	"fmt"
	"slices"
	"time"

	"github.com/holdfast/holdfast/layers/cron"
)

// Window is a time in which something is allowed, or denied.
type Window struct {
	Kind     string        `json:"kind"` // allow or deny
	Schedule string        `json:"schedule"`
	Zone     string        `json:"time_zone,omitempty"`
	Duration time.Duration `json:"duration"`
	Actions  []string      `json:"actions,omitempty"` // plan, apply; none for both
}

// What windows have.
const (
	Allow     = "allow"
	Deny      = "deny"
	PlanRuns  = "plan" // checks for drift too
	ApplyRuns = "apply"

	mostWindow = 7 * 24 * time.Hour
)

func brokenWindows(windows []Window) (all []Broken) {
	no := func(text string) { all = append(all, Broken{"windows", text}) }
	if len(windows) > mostWindows {
		no("there are at most 20")
	}
	for _, w := range windows {
		if w.Kind != Allow && w.Kind != Deny {
			no("kind is allow or deny")
		}
		if w.Duration < time.Minute || w.Duration > mostWindow {
			no("duration is 1 minute to 7 days")
		}
		if slices.ContainsFunc(w.Actions, func(a string) bool { return a != PlanRuns && a != ApplyRuns }) {
			no("actions are plan and apply")
		}
		if _, err := cron.Parse(w.Schedule, w.Zone); err != nil {
			no(err.Error())
		}
	}
	return all
}

// Open reports whether windows let an action be begun at a time, and why not. Where there is a window that allows it,
// it is allowed in such windows alone; a window that denies it has the last word.
func Open(windows []Window, action string, now time.Time) (open bool, why string) {
	open = true
	for _, w := range windows {
		if len(w.Actions) > 0 && !slices.Contains(w.Actions, action) {
			continue
		}
		within, until := w.within(now)
		switch {
		case w.Kind == Deny && within:
			return false, fmt.Sprintf("the window %q denies it until %s", w.Schedule, stamp(until))
		case w.Kind == Allow && within:
			open, why = true, "within"
		case w.Kind == Allow && why == "":
			open = false
		}
	}
	if !open {
		return false, "no window that allows it is open"
	}
	return true, ""
}

// within reports whether the window is open, and until when.
func (w Window) within(now time.Time) (bool, time.Time) {
	schedule, err := cron.Parse(w.Schedule, w.Zone)
	if err != nil {
		return w.Kind == Deny, now // Check has refused it
	}
	last, found := schedule.Last(now.Add(-w.Duration+time.Nanosecond), now)
	return found, last.Add(w.Duration)
}
