package api

import "time"

// Pulls are pull requests, the highest numbers first.
type Pulls struct {
	Pulls []Pull `json:"pulls"`
}

// Pull is a pull request of a repository, with the plans of the layers that it changes.
type Pull struct {
	Repository string `json:"repository"`
	Number     int64  `json:"number"`
	Title      string `json:"title"`
	Link       string `json:"link,omitempty"` // to its page
	Author     string `json:"author,omitempty"`
	State      string `json:"state" enum:"open|merged|closed|"` // empty while it was not looked at yet
	Commit     string `json:"commit,omitempty"`                 // its head
	Base       string `json:"base,omitempty"`                   // the branch that it is to be merged into
	// Fork says that it comes from another repository: nothing of it is planned before somebody allows the commit, and
	// its plans get no sensitive variables.
	Fork    bool         `json:"fork"`
	Allowed *PullAllowed `json:"allowed"` // null for nobody
	// Lacks is how many commits of its base the head lacks, and Apart the first path in which the two don't merge by
	// themselves, or why they don't.
	Lacks   int        `json:"lacks,omitempty"`
	Apart   string     `json:"apart,omitempty"`
	Waits   string     `json:"waits,omitempty"`   // why nothing is planned
	Trouble string     `json:"trouble,omitempty"` // why the last look did not get to its end
	Plans   []PullPlan `json:"plans"`
	SeenAt  *time.Time `json:"seen_at"` // when it was looked at; null for never
}

// PullAllowed is that somebody lets a fork's commit be planned.
type PullAllowed struct {
	Commit string    `json:"commit"`
	By     string    `json:"by"`
	At     time.Time `json:"at"`
}

// PullPlan is the plan of a layer. One of an earlier commit is stale.
type PullPlan struct {
	Layer  string `json:"layer"`
	Commit string `json:"commit"`
	// Onto is the commit of the base that the head is merged with in what is planned; absent for the head alone.
	Onto string `json:"onto,omitempty"`
	// Behind is the first path of the layer that the base has changed since, which the plan would undo: it is not applied.
	Behind string     `json:"behind,omitempty"`
	Run    string     `json:"run,omitempty"` // absent while it is not begun
	Status string     `json:"status" enum:"waiting|running|done|failed|stale"`
	Reason string     `json:"reason,omitempty"`
	Counts *RunCounts `json:"counts"` // null while it is not planned
	Digest string     `json:"digest,omitempty"`
	Apply  *PullApply `json:"apply"` // null for none
}

// PullApply is the apply of a plan, that somebody has asked for in a comment.
type PullApply struct {
	By     string `json:"by"`
	Run    string `json:"run,omitempty"`
	Status string `json:"status" enum:"waiting|running|done|failed|stale|undone|deciding"`
	Reason string `json:"reason,omitempty"`
}

// PullCommit names the commit of a fork that may be planned: whole, or 8 digits or more of it.
type PullCommit struct {
	Commit string `json:"commit"`
}

// PullSettings are what a repository wants of pull requests.
type PullSettings struct {
	// Plan is what somebody has to be able to do at the forge to have a fork planned, or a plan made again. Off leaves
	// pull requests alone.
	Plan string `json:"plan" enum:"off|write|admin"`
	// Apply is the same for the command that applies.
	Apply string `json:"apply" enum:"off|write|admin"`
	// Branch is the one that pull requests are to be merged into; absent for any.
	Branch string `json:"branch,omitempty"`
	// Planned is what is planned where the head lacks commits of its base: what a merge would give, or the head alone,
	// which is not applied then. Absent is merge.
	Planned string `json:"planned,omitempty" enum:"merge|head"`
}
