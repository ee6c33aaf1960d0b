package api

import "time"

// Layers is a page of the list of layers, by name.
type Layers struct {
	Next   *string `json:"next"` // the next page's cursor; null at the end
	Layers []Layer `json:"layers"`
}

// Layer is a workspace whose configuration comes from a folder of a repository.
type Layer struct {
	Name     string        `json:"name"` // also the workspace's and the state's
	Settings LayerSettings `json:"settings"`
	State    string        `json:"state" enum:"Idle|PlanNeeded|ApplyNeeded|MaxRetriesReached|Gone"`
	// Says is what is done about it, or why nothing is.
	Says       string           `json:"says"`
	Conditions []LayerCondition `json:"conditions"`
	Run        *LayerRun        `json:"run"` // that goes on, or else the last; null for none
	// Branch is the newest commit that was looked at, Relevant the newest that changes the layer, Planned and Applied
	// the last that were; absent for none.
	Branch   string `json:"branch_commit,omitempty"`
	Relevant string `json:"relevant_commit,omitempty"`
	Planned  string `json:"planned_commit,omitempty"`
	Applied  string `json:"applied_commit,omitempty"`
	// Commits are the last that were looked at, the newest first; in the answer about one layer alone.
	Commits   []LayerCommit `json:"commits,omitempty"`
	Drifted   int           `json:"drifted"` // resources that differ and nobody expects to
	Failures  int           `json:"failures"`
	RetryAt   *time.Time    `json:"retry_at"`   // the end of the grace behind a failure; null for none
	CheckedAt *time.Time    `json:"checked_at"` // when the world was compared with the state last; null for never
	CreatedAt time.Time     `json:"created_at"`
	UpdatedAt time.Time     `json:"updated_at"` // of the settings
	UpdatedBy Actor         `json:"updated_by"`
}

// LayerCondition is one thing that is said of a layer or its run, by the conventions of Kubernetes.
type LayerCondition struct {
	Type           string    `json:"type"`
	Status         string    `json:"status" enum:"True|False|Unknown"`
	Reason         string    `json:"reason"`
	Message        string    `json:"message"`
	LastTransition time.Time `json:"last_transition_time"`
}

// LayerRun is the run that a layer waits for, or the last one that it waited for.
type LayerRun struct {
	ID         string           `json:"id,omitempty"` // absent while it is being made
	Kind       string           `json:"kind" enum:"check|plan|propose|apply"`
	Commit     string           `json:"commit"`
	Why        string           `json:"why"`
	At         time.Time        `json:"at"`
	Ended      bool             `json:"ended,omitempty"` // the layer waits for it no more
	State      string           `json:"state" enum:"Initial|Running|FailureGracePeriod|Retrying|Succeeded|Failed"`
	Conditions []LayerCondition `json:"conditions"`
}

// LayerCommit is a commit and what it means to a layer.
type LayerCommit struct {
	Commit   string    `json:"commit"`
	At       time.Time `json:"at"`
	Subject  string    `json:"subject,omitempty"`
	Relevant bool      `json:"relevant"`
	Why      string    `json:"why"`
}

// LayerSettings say where a layer's configuration comes from, and what is done by itself. Times are in seconds.
type LayerSettings struct {
	Repository  string        `json:"repository"`
	Branch      string        `json:"branch"`
	Path        string        `json:"path"`
	Triggers    []string      `json:"triggers,omitempty"`
	Remediation string        `json:"remediation" enum:"dry|propose|auto"`
	MaxChanges  int           `json:"max_changes,omitempty"` // absent for the default
	Retries     int           `json:"retries,omitempty"`     // absent for the default
	Windows     []LayerWindow `json:"windows,omitempty"`
	Drift       LayerChecks   `json:"drift"`
	Ignore      []LayerRule   `json:"ignore,omitempty"`
}

// LayerWindow is a time in which runs may be begun, or may not.
type LayerWindow struct {
	Kind     string   `json:"kind" enum:"allow|deny"`
	Schedule string   `json:"schedule"` // five fields of cron
	TimeZone string   `json:"time_zone,omitempty"`
	Duration int64    `json:"duration"`
	Actions  []string `json:"actions,omitempty"` // plan and apply; absent for both
}

// LayerChecks say how often a layer is checked for drift, and how.
type LayerChecks struct {
	Off      bool   `json:"off,omitempty"`
	Every    int64  `json:"every,omitempty"` // absent for the default, 20 minutes
	Cron     string `json:"cron,omitempty"`
	TimeZone string `json:"time_zone,omitempty"`
	// RefreshOnly looks for what was changed outside alone; absent for a whole plan.
	RefreshOnly bool `json:"refresh_only,omitempty"`
}

// LayerRule selects attributes of resources; * is any text.
type LayerRule struct {
	Address   string `json:"address"`
	Attribute string `json:"attribute"`
}

// LayerChange makes or changes a layer. What is absent stays as it is, or has its default in a new one.
type LayerChange struct {
	Name string `json:"name,omitempty"` // of a new one

	Repository  *string        `json:"repository,omitempty"`
	Branch      *string        `json:"branch,omitempty"`
	Path        *string        `json:"path,omitempty"`
	Tool        string         `json:"tool,omitempty" enum:"ToolName"` // of its workspace, when that is made
	Version     string         `json:"version,omitempty"`
	Reads       []string       `json:"reads,omitempty"` // of its workspace: states whose outputs runs may read
	Triggers    *[]string      `json:"triggers,omitempty"`
	Remediation *string        `json:"remediation,omitempty" enum:"dry|propose|auto"`
	MaxChanges  *int           `json:"max_changes,omitempty"`
	Retries     *int           `json:"retries,omitempty"`
	Windows     *[]LayerWindow `json:"windows,omitempty"`
	Drift       *LayerChecks   `json:"drift,omitempty"`
	Ignore      *[]LayerRule   `json:"ignore,omitempty"`
}

// LayerDrift is what the last check of a layer has found.
type LayerDrift struct {
	Run          string             `json:"run,omitempty"` // the check; its changes have the values
	At           *time.Time         `json:"at"`            // null where there was none
	Resources    []DriftedResource  `json:"resources"`
	Expectations []DriftExpectation `json:"expectations"`
	// Checks are the last that found something else than the one before, the newest first.
	Checks []DriftCheck `json:"checks"`
}

// DriftedResource is a resource that was changed outside.
type DriftedResource struct {
	Layer      string    `json:"layer,omitempty"` // in a report of many
	Address    string    `json:"address"`
	Type       string    `json:"type"`
	Action     string    `json:"action" enum:"changed|deleted|created"`
	Attributes []string  `json:"attributes"`
	ID         string    `json:"id,omitempty"` // what the provider calls it
	Since      time.Time `json:"since"`        // the first check that has found it so
	Run        string    `json:"run"`          // that check
	Expected   string    `json:"expected,omitempty"`
	Ignored    bool      `json:"ignored,omitempty"`
	// Claims are other states and uploads that say they have it, as far as is known.
	Claims []DriftClaim `json:"claims,omitempty"`
}

// DriftClaim is a state or an upload that says it has a resource.
type DriftClaim struct {
	Kind string    `json:"kind" enum:"state|upload"`
	Name string    `json:"name"`
	At   time.Time `json:"at"`
}

// DriftTrend is what checks have found, day by day.
type DriftTrend struct {
	// Days are in UTC, the oldest first, those on which nothing was checked too.
	Days []DriftDay `json:"days"`
}

// DriftDay is a day in numbers, of one layer or of all that the caller may see.
type DriftDay struct {
	Day    string `json:"day"`    // such as 2026-01-31
	Checks int    `json:"checks"` // that have ended well
	Found  int    `json:"found"`  // of those: that have found drift which nobody expects
	Layers int    `json:"layers"` // that were checked
	// Drifted is how many layers had drifted at the end of the day, Resources how many resources of theirs.
	Drifted   int `json:"drifted"`
	Resources int `json:"resources"`
	New       int `json:"new"`    // resources that had not drifted before
	Healed    int `json:"healed"` // resources that were as planned again, by themselves or by a run
}

// DriftExpectation is drift that somebody has said is as it should be.
type DriftExpectation struct {
	ID string `json:"id"`
	LayerRule
	Owner   string    `json:"owner"`
	Reason  string    `json:"reason"`
	Expires time.Time `json:"expires"`
	By      Actor     `json:"by"`
	At      time.Time `json:"at"`
}

// DriftExpected is the body that says so.
type DriftExpected struct {
	Address   string    `json:"address"`
	Attribute string    `json:"attribute,omitempty"` // absent for all
	Owner     string    `json:"owner"`
	Reason    string    `json:"reason"`
	Expires   time.Time `json:"expires"`
}

// DriftCheck is a check in numbers.
type DriftCheck struct {
	At       time.Time `json:"at"`
	Run      string    `json:"run"`
	Drifted  int       `json:"drifted"`
	Expected int       `json:"expected"`
	New      int       `json:"new"`
	Healed   int       `json:"healed"`
}

// Drift is what has drifted in all layers, by its cause.
type Drift struct {
	Causes []DriftCause `json:"causes"`
	// Cut says that there are more than are shown.
	Cut bool `json:"cut,omitempty"`
}

// DriftCause is what was changed in the same way, in one layer or in many.
type DriftCause struct {
	Type       string    `json:"type"`
	Action     string    `json:"action" enum:"changed|deleted|created"`
	Attributes []string  `json:"attributes"`
	Since      time.Time `json:"since"`
	Count      int       `json:"count"`
	Layers     int       `json:"layers"`
	// Resources are some of them.
	Resources []DriftedResource `json:"resources"`
}

// DiscoverOrder asks which layers a repository has, and accepts those that are named.
type DiscoverOrder struct {
	Repository string   `json:"repository"`
	Branch     string   `json:"branch,omitempty"`  // main where there is none
	Pattern    string   `json:"pattern,omitempty"` // of folders, such as envs/*/; absent for holdfast.yaml
	Accept     []string `json:"accept,omitempty"`  // names; absent to be shown them only
}

// Discovered are the layers that a repository has.
type Discovered struct {
	Commit string            `json:"commit"`
	Layers []DiscoveredLayer `json:"layers"`
}

// DiscoveredLayer is one of them.
type DiscoveredLayer struct {
	Name     string        `json:"name"`
	Tool     string        `json:"tool,omitempty"`
	Version  string        `json:"version,omitempty"`
	Reads    []string      `json:"reads,omitempty"` // patterns of the states whose outputs its runs may read
	Settings LayerSettings `json:"settings"`
	Line     int           `json:"line,omitempty"` // of holdfast.yaml
	// Status is new, changed, same, or accepted.
	Status string `json:"status" enum:"new|changed|same|accepted"`
}
