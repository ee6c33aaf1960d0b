package api

// DecisionQuestion is what a service outside is asked about a plan, before it is applied. It has no values of the
// plan.
type DecisionQuestion struct {
	ID           string `json:"id"` // of the question: the same in every try
	Org          string `json:"org"`
	OrgName      string `json:"org_name,omitempty"`
	Run          string `json:"run"`
	Workspace    string `json:"workspace"`
	Kind         string `json:"kind"` // of the run: apply, destroy or refresh
	Message      string `json:"message,omitempty"`
	Trigger      Actor  `json:"trigger"`
	PlanDigest   string `json:"plan_digest"` // of the pin, as approvals name it
	StateVersion uint64 `json:"state_version"`
	// Counts is what the plan would do; Gates is what holds it.
	Counts *RunCounts   `json:"counts"`
	Gates  []GateReason `json:"gate_reasons"`
	// Insight is what the plan means, without descriptions of findings and cut where it is long. It is null where
	// nobody can find that out.
	Insight *Insight `json:"insight"`
}

// DecisionAnswer is what it answers.
type DecisionAnswer struct {
	Decision string `json:"decision" enum:"APPROVED|REJECTED"`
	Reason   string `json:"reason,omitempty"`
}

// OutsideDecision is how far a service outside has decided on a run's plan.
type OutsideDecision struct {
	// State is asked while there is no answer, approved, rejected, failed where there was none and the plan was let
	// through or not as the organization wants, overridden where somebody broke the glass, and dropped where the
	// organization has no such service any more.
	State  string `json:"state" enum:"asked|approved|rejected|failed|overridden|dropped"`
	Tries  int    `json:"tries"`  // that have begun
	Failed int    `json:"failed"` // that brought no answer
	Reason string `json:"reason,omitempty"`
	// People says that somebody has to approve the plan besides.
	People bool `json:"people"`
}
