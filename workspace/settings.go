package workspace

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/when"
)

// Settings say how a workspace's runs are made. Their JSON is how stores keep them.
type Settings struct {
	Tool        string   `json:"tool"`                  // opentofu, terraform, terragrunt or engine
	Version     string   `json:"version,omitempty"`     // constraint; empty for what the configuration asks for
	Directory   string   `json:"directory,omitempty"`   // within the configuration
	Pool        string   `json:"pool,omitempty"`        // of agents; empty for the server's own executor
	Parallelism int      `json:"parallelism,omitempty"` // 0 for the tool's own default
	Outputs     []string `json:"outputs,omitempty"`     // that an apply has to leave behind; empty for all there are
	// Reads are patterns of the states whose outputs its runs may read.
	Reads []string `json:"reads,omitempty"`

	PlanTimeout  time.Duration `json:"plan_timeout"`
	ApplyTimeout time.Duration `json:"apply_timeout"`
	PlanGrace    time.Duration `json:"plan_grace"` // after a soft cancellation
	ApplyGrace   time.Duration `json:"apply_grace"`

	AutoApply   string        `json:"auto_apply"` // never, no-changes or always
	Approvals   int           `json:"approvals,omitempty"`
	AllowAuthor bool          `json:"allow_author,omitempty"`    // who asked for a run may approve it
	Carry       bool          `json:"carry_approvals,omitempty"` // to a plan with equal changes
	PlanTTL     time.Duration `json:"plan_ttl"`                  // how long a plan may be applied
	ApprovalTTL time.Duration `json:"approval_ttl"`              // how long an approval counts

	// Gate is the least severity of findings that a plan waits for a person for; empty for none.
	Gate             string `json:"gate,omitempty"`
	GateIrreversible bool   `json:"gate_irreversible,omitempty"` // a plan that can't be undone waits
	GateMonthlyCost  int64  `json:"gate_monthly_cost,omitempty"` // in dollars more than before; 0 for none
	GateWhen         string `json:"gate_when,omitempty"`         // and one of which this holds; empty for none
	// ApprovalsFor is how many people have to approve a plan that is held, by what holds it.
	ApprovalsFor map[string]int `json:"approvals_for,omitempty"`
	// ApproversFor is whose yes counts for such a plan: IDs of keys and rules, or ID/SUBJECT.
	ApproversFor map[string][]string `json:"approvers_for,omitempty"`

	Protected  bool   `json:"protected,omitempty"` // from being destroyed
	MinSandbox string `json:"min_sandbox"`         // none, weak, landlock or namespaces
}

// The values that settings may have.
const (
	OpenTofu   = "opentofu"
	Terraform  = "terraform"
	Terragrunt = "terragrunt"
	Engine     = "engine"

	ApplyNever     = "never"
	ApplyNoChanges = "no-changes"
	ApplyAlways    = "always"

	GateCritical = "critical"
	GateHigh     = "high"

	SandboxNone       = "none"
	SandboxWeak       = "weak"
	SandboxLandlock   = "landlock"
	SandboxNamespaces = "namespaces"
)

// Defaults returns the settings of a workspace that says nothing.
func Defaults() Settings {
	return Settings{
		Tool: OpenTofu, AutoApply: ApplyNever, MinSandbox: SandboxLandlock,
		PlanTimeout: time.Hour, ApplyTimeout: 4 * time.Hour, PlanGrace: time.Minute, ApplyGrace: 15 * time.Minute,
		PlanTTL: 24 * time.Hour, ApprovalTTL: 24 * time.Hour,
	}
}

const (
	maxParallelism = 256
	maxApprovals   = 20
	maxOutputs     = 500
	maxReads       = 50
	maxTime        = 7 * 24 * time.Hour
	maxGateCost    = 1_000_000_000 // dollars
	maxTTL         = 90 * 24 * time.Hour
	maxText        = 255
)

// Check returns what is wrong with the settings, as a fault.WorkspaceInvalid.
func (s Settings) Check() error {
	for _, c := range []struct {
		ok   bool
		rule string
	}{
		{slices.Contains([]string{OpenTofu, Terraform, Terragrunt, Engine}, s.Tool),
			"tool is opentofu, terraform, terragrunt or engine"},
		{isConstraint(s.Version), `version is a constraint such as "1.12.6" or ">= 1.9, < 2.0"`},
		{isFolder(s.Directory), "directory is a relative path without empty, . or .. names"},
		{s.Pool == "" || isPool(s.Pool), "pool is 1 to 64 letters, digits and . _ -"},
		{s.Parallelism >= 0 && s.Parallelism <= maxParallelism, "parallelism is 0 to 256"},
		{len(s.Outputs) <= maxOutputs && isNames(s.Outputs), "outputs are at most 500 different names of outputs"},
		{isTime(s.PlanTimeout, maxTime) &&
			isTime(s.ApplyTimeout, maxTime), "plan_timeout and apply_timeout are 1 second to 7 days"},
		{isTime(s.PlanGrace, maxTime) && isTime(s.ApplyGrace, maxTime), "plan_grace and apply_grace are 1 second to 7 days"},
		{slices.Contains([]string{ApplyNever, ApplyNoChanges, ApplyAlways}, s.AutoApply),
			"auto_apply is never, no-changes or always"},
		{s.Approvals >= 0 && s.Approvals <= maxApprovals, "approvals is 0 to 20"},
		{isTime(s.PlanTTL, maxTTL) && isTime(s.ApprovalTTL, maxTTL), "plan_ttl and approval_ttl are 1 second to 90 days"},
		{slices.Contains([]string{"", GateCritical, GateHigh}, s.Gate), "gate is none, critical or high"},
		{s.GateMonthlyCost >= 0 && s.GateMonthlyCost <= maxGateCost, "gate_monthly_cost is 0 to 1000000000 dollars"},
		{areOfHeld(s.ApprovalsFor, isApprovals), "approvals_for has 1 to 20 approvals for some of " + strings.Join(heldKinds(), ", ")},
		{areOfHeld(s.ApproversFor, areApprovers), "approvers_for has 1 to 20 IDs of keys or of rules, or ID/SUBJECT, for some of " +
			strings.Join(heldKinds(), ", ")},
		{s.Approvals == 0 || s.AutoApply != ApplyAlways, "auto_apply can't be always where approvals are wanted"},
		{slices.Contains([]string{SandboxNone, SandboxWeak, SandboxLandlock, SandboxNamespaces}, s.MinSandbox),
			"min_sandbox is none, weak, landlock or namespaces"},
	} {
		if !c.ok {
			return fault.New(fault.WorkspaceInvalid, "%s", c.rule)
		}
	}
	if len(s.Reads) > maxReads {
		return fault.New(fault.WorkspaceInvalid, "reads are at most 50 patterns of states")
	}
	if _, err := auth.PatternsOf(s.Reads); err != nil {
		return fault.New(fault.WorkspaceInvalid, "reads: %s", err)
	}
	if s.GateWhen != "" {
		if _, err := when.Compile(s.GateWhen); err != nil {
			return fault.New(fault.WorkspaceInvalid, "gate_when: %s", err)
		}
	}
	return nil
}

// Equal reports whether two are the same.
func (s Settings) Equal(other Settings) bool {
	a, b := s, other
	a.Outputs, b.Outputs = nil, nil
	return slices.Equal(s.Outputs, other.Outputs) && slices.Equal(s.Reads, other.Reads) &&
		maps.Equal(s.ApprovalsFor, other.ApprovalsFor) &&
		maps.EqualFunc(s.ApproversFor, other.ApproversFor, slices.Equal) && sameButOutputs(a, b)
}

func sameButOutputs(a, b Settings) bool {
	return a.Tool == b.Tool && a.Version == b.Version && a.Directory == b.Directory && a.Pool == b.Pool &&
		a.Parallelism == b.Parallelism &&
		a.PlanTimeout == b.PlanTimeout && a.ApplyTimeout == b.ApplyTimeout && a.PlanGrace == b.PlanGrace &&
		a.ApplyGrace == b.ApplyGrace &&
		a.AutoApply == b.AutoApply && a.Approvals == b.Approvals && a.AllowAuthor == b.AllowAuthor && a.Carry == b.Carry &&
		a.Gate == b.Gate && a.GateIrreversible == b.GateIrreversible && a.GateMonthlyCost == b.GateMonthlyCost &&
		a.GateWhen == b.GateWhen &&
		a.PlanTTL == b.PlanTTL && a.ApprovalTTL == b.ApprovalTTL && a.Protected == b.Protected && a.MinSandbox == b.MinSandbox
}

// readsMore returns the patterns of states that the settings let runs read, and those before didn't; nil for none.
func (s Settings) readsMore(before Settings) *auth.Patterns {
	more := slices.DeleteFunc(slices.Clone(s.Reads), func(one string) bool { return slices.Contains(before.Reads, one) })
	patterns, _ := auth.PatternsOf(more) // Check has read them
	return patterns
}

// heldKinds are what may hold a plan.
func heldKinds() []string {
	return []string{GateCritical, "findings", "rules", "irreversible", "cost", "condition", "policies", "unread"}
}

// areOfHeld reports whether all that is said is of what may hold a plan, and fits.
func areOfHeld[T any](all map[string]T, fits func(T) bool) bool {
	for kind, one := range all {
		if !slices.Contains(heldKinds(), kind) || !fits(one) {
			return false
		}
	}
	return true
}

func isApprovals(n int) bool { return n >= 1 && n <= maxApprovals }

func areApprovers(who []string) bool {
	return isApprovals(len(who)) && !slices.ContainsFunc(who, func(one string) bool { return !isApprover(one) })
}

// isApprover accepts the ID of a key or a rule, and one with the subject of whom the rule lets in.
func isApprover(text string) bool {
	is := regexp.MustCompile(`^([0-9a-f]{12}|(token|certificate)\.[^\s/]+(/\S+)?)$`)
	return len(text) <= maxText && is.MatchString(text)
}

func isTime(d, most time.Duration) bool { return d >= time.Second && d <= most }

// isConstraint accepts what both tools take for a version constraint, and nothing.
func isConstraint(text string) bool {
	if text == "" {
		return true
	}
	one := regexp.MustCompile(`^\s*(=|!=|>|>=|<|<=|~>)?\s*v?\d+(\.\d+){0,2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?\s*$`)
	for part := range strings.SplitSeq(text, ",") {
		if !one.MatchString(part) {
			return false
		}
	}
	return len(text) <= maxText
}

func isPool(text string) bool {
	return regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`).MatchString(text)
}

// isFolder accepts a clean path within the configuration; empty is all of it.
func isFolder(text string) bool {
	return text == "" || CheckPath(text) == nil && path.Clean(text) == text
}

func isNames(names []string) bool {
	for i, name := range names {
		if len(name) > maxText || !hclsyntax.ValidIdentifier(name) || slices.Contains(names[:i], name) {
			return false
		}
	}
	return true
}

// asks reports whether a plan may have to wait for somebody who may approve.
func (s Settings) asks() bool {
	return s.Approvals > 0 || len(s.ApprovalsFor)+len(s.ApproversFor) > 0 || s.Gate != "" ||
		s.GateIrreversible || s.GateMonthlyCost > 0 ||
		s.GateWhen != ""
}

// asksLessThan reports whether plans are applied with less of a say of others than by the settings
// before.
func (s Settings) asksLessThan(before Settings) bool {
	return s.Approvals < before.Approvals || before.asks() && s.AllowAuthor && !before.AllowAuthor ||
		s.gatesLessThan(before)
}

// gatesLessThan reports whether a gate lets more plans through than by the settings before.
func (s Settings) gatesLessThan(before Settings) bool {
	for kind, n := range before.ApprovalsFor {
		if s.ApprovalsFor[kind] < n {
			return true
		}
	}
	for kind, who := range before.ApproversFor {
		now := s.ApproversFor[kind]
		if len(now) == 0 || slices.ContainsFunc(now, func(one string) bool { return !slices.Contains(who, one) }) {
			return true
		}
	}
	if before.GateWhen != "" && s.GateWhen != before.GateWhen {
		return true // nobody knows what of it lets less through
	}
	order := []string{"", GateCritical, GateHigh}
	return slices.Index(order, s.Gate) < slices.Index(order, before.Gate) ||
		before.GateIrreversible && !s.GateIrreversible ||
		before.GateMonthlyCost > 0 && (s.GateMonthlyCost == 0 || s.GateMonthlyCost > before.GateMonthlyCost)
}
