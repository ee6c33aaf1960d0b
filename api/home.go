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
	Waiting     []Run `json:"waiting"`      // for approval, up to 20
	WaitingMore bool  `json:"waiting_more"` // there are others
	// Orphaned are those whose executor was lost while they applied, up to 20.
	Orphaned     []Run `json:"orphaned"`
	OrphanedMore bool  `json:"orphaned_more"`
	// Failed are those of the last 7 days after which no run of their workspace has succeeded, one of each
	// workspace, up to 20; FailedCount is how many workspaces have one.
	Failed      []Run `json:"failed"`
	FailedCount int   `json:"failed_count"`
	// Drift are the newest drift runs of their workspaces that found something changed, up to 20;
	// DriftCount is how many workspaces have one, and Drifted names them, up to 1000.
	Drift      []Run    `json:"drift"`
	DriftCount int      `json:"drift_count"`
	Drifted    []string `json:"drifted"`
	Recent     []Run    `json:"recent"`
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
	Seen  time.Time `json:"seen"`          // its last sign of life
	Run   string    `json:"run,omitempty"` // the ID of the run that holds it; absent for none
}

// HomeWorkspaces counts the workspaces, and the files of their newest configurations.
type HomeWorkspaces struct {
	Count int   `json:"count"`
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
	More  bool  `json:"more"` // there are others, which were not looked at
	// Kinds are the files by what their names end with, the most frequent first, up to 12.
	Kinds     []FileKind `json:"kinds"`
	KindsMore bool       `json:"kinds_more"` // there are others, which were not looked at
}

// FileKind is how many files there are whose names have an end.
type FileKind struct {
	Kind  string `json:"kind"` // such as tf, tf.json or other
	Files int    `json:"files"`
}
