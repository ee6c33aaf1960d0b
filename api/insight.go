package api

// Insight is what a plan means: what it does, what it costs, what of it is dangerous. Summary,
// costs and security have the names of the document that the command line's block comes from.
type Insight struct {
	Summary  string           `json:"summary"` // Markdown, under 200 words
	Costs    InsightCosts     `json:"costs"`
	Security InsightSecurity  `json:"security"`
	Facts    InsightFacts     `json:"facts"`
	Findings []InsightFinding `json:"findings"` // the gravest first
	Broken   []InsightBroken  `json:"broken"`   // rules that could not be asked
	// Reasons say why people have to approve; there are none where they need not.
	Reasons []string `json:"approve_because"`
	Rules   string   `json:"rules_digest"` // SHA-256 of all rules that were asked
	// Policies are the bundles of the organization and of the workspace that were asked.
	Policies []InsightPolicy `json:"policies,omitempty"`
	// Model is what a language model says beside all that; absent where none is asked.
	Model *InsightModel `json:"model,omitempty"`
	// Cut says that there is more to say than is listed.
	Cut bool `json:"cut,omitempty"`
	// Unread says that the plan has more changes than are looked at, or that planning failed.
	Unread bool `json:"unread,omitempty"`
}

// InsightModel is what a language model says of a plan. It is no fact: findings may have people asked, and nothing here
// takes anything away.
type InsightModel struct {
	Model    string          `json:"model"`
	Summary  string          `json:"summary,omitempty"`
	Costs    []InsightAICost `json:"costs,omitempty"`    // of what has no price
	Findings []InsightIssue  `json:"findings,omitempty"` // of resources that change
	// Error is why it has said nothing.
	Error string `json:"error,omitempty"`
}

// InsightCosts is what the resources of a plan cost by the price sheet, in US dollars.
type InsightCosts struct {
	Estimated    []InsightCost   `json:"estimated"`
	AIEstimated  []InsightAICost `json:"aiEstimated"` // none without a model
	Unpriced     []string        `json:"unpriced"`    // what the price sheet has no price of
	TotalMonthly string          `json:"totalMonthly"`
	DeltaMonthly string          `json:"deltaMonthly"`
	PricesDate   string          `json:"pricesDate"` // of the oldest price that was used
}

// InsightCost is what one resource costs.
type InsightCost struct {
	Resource    string `json:"resource"`
	MonthlyCost string `json:"monthlyCost"`
	Delta       string `json:"deltaMonthly"`
	Source      string `json:"source"`
	Note        string `json:"note,omitempty"` // what was assumed
}

// InsightAICost is what a model takes a resource's cost for.
type InsightAICost struct {
	Resource    string `json:"resource"`
	MonthlyCost string `json:"monthlyCost"`
	Confidence  string `json:"confidence"`
}

// InsightSecurity is what rules found that nobody waived.
type InsightSecurity struct {
	Issues []InsightIssue `json:"issues"`
	// ShouldApprove says that people have to approve, for a finding of high or critical severity or
	// a rule that could not be asked.
	ShouldApprove bool `json:"shouldApprove"`
}

// InsightIssue is one thing that rules found.
type InsightIssue struct {
	Severity       string `json:"severity"` // critical, high, medium, low
	Resource       string `json:"resource"`
	Description    string `json:"description"`
	Recommendation string `json:"recommendation"`
}

// InsightFacts is what a plan does for certain.
type InsightFacts struct {
	Counts       RunCounts       `json:"counts"`
	Changes      []InsightChange `json:"changes"`
	Total        int             `json:"total"` // changes, of which not all need be listed
	Drift        []InsightChange `json:"drift"` // what had changed outside
	Irreversible []InsightDanger `json:"irreversible"`
	Outputs      []string        `json:"outputs"` // that change
	Unknown      int             `json:"unknown"` // attributes known after the apply only
	Tool         string          `json:"tool_version"`
}

// InsightChange is what happens to one resource.
type InsightChange struct {
	Address    string   `json:"address"`
	Previous   string   `json:"previous_address,omitempty"`
	Type       string   `json:"type"`
	Kind       string   `json:"kind"`                      // create, update, replace, delete, move, import, forget, read
	Because    []string `json:"replace_because,omitempty"` // attribute paths
	Attributes []string `json:"attributes,omitempty"`      // that change
	Unknown    []string `json:"unknown,omitempty"`         // that are known after the apply only
	Dependents int      `json:"dependents"`                // resources that depend on it, over others too
	DependedBy []string `json:"depended_by,omitempty"`     // some of them
}

// InsightDanger is a change that can't be undone.
type InsightDanger struct {
	Resource string `json:"resource"`
	Reason   string `json:"reason"`
}

// InsightFinding is one thing that a rule found.
type InsightFinding struct {
	Rule           string         `json:"rule"`
	Severity       string         `json:"severity"`
	Kind           string         `json:"kind"` // networking, access, encryption, credentials, logging, policy, scan
	Resource       string         `json:"resource"`
	Title          string         `json:"title"`
	Description    string         `json:"description"`
	Recommendation string         `json:"recommendation"`
	Link           string         `json:"link,omitempty"`
	Standing       bool           `json:"standing,omitempty"` // of a resource that the plan leaves as it is
	Waived         *InsightWaiver `json:"waived,omitempty"`
	// Policy is the bundle that has the rule; empty for a rule that comes with the program.
	Policy string `json:"policy,omitempty"`
	// Tool is the other program that has found it; empty where it is a rule's.
	Tool string `json:"tool,omitempty"`
}

// InsightPolicy is a bundle of policies that a plan was shown to.
type InsightPolicy struct {
	Name      string `json:"name"`
	Workspace string `json:"workspace,omitempty"` // empty for a bundle of the organization
	Version   int64  `json:"version"`
	Digest    string `json:"digest"`                            // SHA-256 of its files
	Enforce   string `json:"enforce" enum:"advise|hold|refuse"` // what becomes of a plan that it denies
	Denied    int    `json:"denied"`                            // what deny and violation found, and counts
	Broken    int    `json:"broken"`                            // rules of it that could not be asked
}

// InsightWaiver is why a finding is let be.
type InsightWaiver struct {
	Owner   string `json:"owner"`
	Reason  string `json:"reason"`
	Expires string `json:"expires"` // a date
}

// InsightBroken is a rule that could not be asked.
type InsightBroken struct {
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
	Policy string `json:"policy,omitempty"` // the bundle that has the rule
}
