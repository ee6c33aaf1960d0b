package layers

import "time"

// Facts are what a layer remembers: all that its conditions are made of. They are durable, so a restart changes
// nothing.
type Facts struct {
	// Branch is the newest commit of the branch that was looked at; Relevant the newest that changes the layer.
	Branch, Relevant Commit
	// Why says why Branch is, or is not, relevant.
	Why string `json:",omitempty"`
	// Gone says that the branch has no configuration for the layer any more, since Relevant.
	Gone bool `json:",omitempty"`
	// Trouble is why the repository could not be fetched last; empty for nothing.
	Trouble string `json:",omitempty"`
	// State is the state as it was seen last.
	State StateFact `json:",omitzero"`
	// Plan is the last plan that was made; its zero value says that there is none.
	Plan PlanFact
	// Applied is what was applied last.
	Applied AppliedFact
	// Checked is when the world was compared with the state last, by a plan or by a check for drift.
	Checked time.Time
	// Asked is when somebody has asked for a check.
	Asked time.Time `json:",omitzero"`
	// Drift is what the last check has found that nobody expects; empty for nothing.
	Drift DriftFact
	// Failures are those in a row, of the last thing that was tried.
	Failures Failures
	// Stale are plans in a row that went stale before they were applied.
	Stale Staleness `json:",omitzero"`
	// Sync is a plan that somebody has asked for.
	Sync SyncFact
	// Declined is the digest of changes that somebody has said no to: they are not proposed again.
	Declined string `json:",omitempty"`
}

// due is when the world is to be looked at again; zero for never.
func (f Facts) due(c Checks, layer string) time.Time {
	due := c.Due(layer, f.Checked)
	if f.Asked.After(f.Checked) && (due.IsZero() || f.Asked.Before(due)) {
		return f.Asked
	}
	return due
}

// Commit is one of a branch.
type Commit struct {
	ID string    `json:",omitempty"`
	At time.Time `json:",omitzero"`
}

// PlanFact is a plan that was made.
type PlanFact struct {
	Run     string `json:",omitempty"`
	Commit  string `json:",omitempty"`
	At      time.Time
	Changes bool   // that it would do something
	Digest  string `json:",omitempty"` // of what it would do
	// Drift is the digest of the drift that was known when it was made: another one wants another plan.
	Drift string `json:",omitempty"`
	// State is the version of the state that the plan is of: the one that it was made on, and once it is applied, the
	// one that the apply has left. Another one wants another plan.
	State uint64 `json:",omitempty"`
}

// StateFact is the newest version of a layer's state.
type StateFact struct {
	Version   uint64 `json:",omitempty"` // 0 for a state that is absent
	Resources int    `json:",omitempty"`
	// Applying is the run that applies something in the workspace now; empty for none.
	Applying string `json:",omitempty"`
	// Pull is the pull request whose run has left the version, as "infra#7", while it is open; empty for none.
	Pull string `json:",omitempty"`
}

// stateMoved reports whether the state is another one than the layer's plan, or its apply, has left.
func (f Facts) stateMoved() bool { return f.Plan.Run != "" && f.State.Version != f.Plan.State }

// outstanding reports whether the last plan would do something that was not applied.
func (p PlanFact) outstanding(applied AppliedFact) bool { return p.Changes && applied.Plan != p.Run }

// AppliedFact is what was applied.
type AppliedFact struct {
	Run    string `json:",omitempty"`
	Commit string `json:",omitempty"`
	At     time.Time
	Digest string `json:",omitempty"` // of the plan
	// Plan is the run whose plan it was.
	Plan string `json:",omitempty"`
}

// DriftFact is what a check has found.
type DriftFact struct {
	Run    string `json:",omitempty"`
	At     time.Time
	Since  time.Time // of the first check that has found it
	Digest string    `json:",omitempty"` // of what nobody expects; empty for nothing
	Count  int       `json:",omitempty"` // of resources
}

// Failures are those in a row.
type Failures struct {
	Count   int       `json:",omitempty"`
	Run     string    `json:",omitempty"` // the last
	Commit  string    `json:",omitempty"` // that was tried
	RetryAt time.Time `json:",omitzero"`
	Reason  string    `json:",omitempty"`
	// Plan says that a plan has failed, not an apply or a check.
	Plan bool `json:",omitempty"`
	// Apply says that an apply is among them, whose plan was good.
	Apply bool `json:",omitempty"`
	// Final says that it is not tried again whatever the count.
	Final bool `json:",omitempty"`
	// Unmade says that there is no such run: none could be made of the commit.
	Unmade bool `json:",omitempty"`
}

// Staleness are plans in a row that went stale. They are no failures, and there may be any number of them.
type Staleness struct {
	Count   int       `json:",omitempty"`
	Run     string    `json:",omitempty"` // the last
	Commit  string    `json:",omitempty"` // that was tried
	RetryAt time.Time `json:",omitzero"`
}

// SyncFact is a plan that somebody has asked for.
type SyncFact struct {
	At time.Time `json:",omitzero"`
	By string    `json:",omitempty"`
}
