package api

import "time"

// Home is what stands first in the page: what waits for somebody, and how things are. A part that
// the caller may not read is null.
type Home struct {
	Runs       *HomeRuns       `json:"runs"`
	States     *HomeStates     `json:"states"`
	Workspaces *HomeWorkspaces `json:"workspaces"`
}

// HomeRuns are the runs that need somebody, the newest first, and how runs have ended.
type HomeRuns struct {
	Waiting  []Run `json:"waiting"`  // for approval
	Orphaned []Run `json:"orphaned"` // whose executor was lost while it applied
	Failed   []Run `json:"failed"`   // in the last 7 days
	Recent   []Run `json:"recent"`
	// Days are the last 7, in UTC, the oldest first; null for keys that see some workspaces only.
	Days []HomeDay `json:"days"`
}

// HomeDay is how many runs ended on a day, by how they ended.
type HomeDay struct {
	Day      string         `json:"day"` // such as 2026-01-31
	Outcomes map[string]int `json:"outcomes"`
}

// HomeStates counts the states, and names those that need somebody.
type HomeStates struct {
	Count int      `json:"count"`
	More  bool     `json:"more"` // there are others, which were not looked at
	Held  []string `json:"held"` // that have open candidates, up to 20, by name
	// Locks are those that are held the longest, up to 20.
	Locks []HomeLock `json:"locks"`
}

// HomeLock is a state whose lock is held.
type HomeLock struct {
	State string    `json:"state"`
	Who   string    `json:"who"` // as the holder says
	Since time.Time `json:"since"`
	Seen  time.Time `json:"seen"` // its last sign of life
}

// HomeWorkspaces counts the workspaces, and the files of their newest configurations.
type HomeWorkspaces struct {
	Count int   `json:"count"`
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
	More  bool  `json:"more"` // there are others, which were not looked at
}
