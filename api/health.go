package api

// Health says which server answers.
type Health struct {
	Service string `json:"service" enum:"holdfast"` // always "holdfast"
	Status  string `json:"status" enum:"healthy"`   // always "healthy"
	Version string `json:"version"`                 // of the binary
}

// Readiness says that the process answers, or that it would accept a write now. Why it would
// not is a Failure.
type Readiness struct {
	// AuthStale says that another node has a newer auth.cfg in force, and by how much, or that
	// nobody knows; absent otherwise.
	AuthStale string `json:"auth_stale,omitempty"`
	// Reason is why it is degraded; absent otherwise.
	Reason string `json:"reason,omitempty"`
	Status string `json:"status" enum:"alive|ready|degraded"` // alive, ready or degraded
}
