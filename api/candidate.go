package api

import "time"

// Candidates is a page of a state's candidates, the newest first.
type Candidates struct {
	Candidates []Candidate `json:"candidates"`
	Next       *string     `json:"next"` // the next page's cursor; null at the end
}

// Candidate describes bytes that are not a version, or not yet. It is also the answer to a
// request for the bytes of one that was decided on.
type Candidate struct {
	ID     string `json:"id"`
	Status string `json:"status" enum:"open|promoted|discarded"` // open, promoted or discarded
	// held, by a guard; fenced, of a run that may not write; or pushed, by somebody
	Source  string     `json:"source" enum:"held|fenced|pushed"`
	Decided *time.Time `json:"decided_at,omitempty"` // absent while it is open
	Base    uint64     `json:"base_version"`         // the newest version when it came
	// Version describes the bytes. Its number is that of the candidate's base.
	Version
}
