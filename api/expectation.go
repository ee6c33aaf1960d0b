package api

import "time"

// Expect is the body that announces a change of a state, so that no guard holds it.
type Expect struct {
	// Findings are what guards would find in it: emptied, shrunk, or both.
	Findings []string `json:"findings" enum:"Finding"`
	// For is for how long it may come, such as 1h: 1m to 168h.
	For    string `json:"for"`
	Reason string `json:"reason"` // 1 to 1,000 characters; it is recorded
}

// Expected is the answer to everything that is asked about an announced change of a state.
type Expected struct {
	Expectation *Expectation `json:"expectation"` // null for none
}

// Expectation is a change of a state that somebody has announced.
type Expectation struct {
	Findings []string  `json:"findings" enum:"Finding"` // emptied or shrunk
	Since    time.Time `json:"since"`
	Until    time.Time `json:"until"`
	Reason   string    `json:"reason"`
	KeyID    string    `json:"key_id"` // of who announced it
	KeyName  string    `json:"key_name,omitempty"`
	Subject  string    `json:"subject,omitempty"`
	// LockID is of the lock under which it was used: it is good for nothing else by then, and
	// ends when that lock is released. Absent before.
	LockID string `json:"lock_id,omitempty"`
}
