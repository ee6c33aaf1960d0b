package runs

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/internal/mask"
)

// Gates say which plans wait for somebody who may approve, whatever is applied without a question.
// The zero value holds none.
type Gates struct {
	Severity     string `json:",omitempty"` // the least of a finding that holds a plan: critical or high; empty for none
	Irreversible bool   `json:",omitempty"` // a change that can't be undone does
	MonthlyCost  int64  `json:",omitempty"` // and costing more dollars a month than before; 0 for none
	When         string `json:",omitempty"` // and a condition of the workspace's own; empty for none
	// Confirm is the least severity of a finding with which a plan that nobody would be asked about waits until somebody
	// confirms it. It is no setting: see Run.confirms.
	Confirm string `json:"-"`
}

// Any reports whether there is a gate at all.
func (g Gates) Any() bool { return g != Gates{} }

// What holds a plan.
const (
	GateFindings     = "findings"     // of the severity, or a graver one
	GateRules        = "rules"        // that could not be asked
	GateIrreversible = "irreversible" // changes that can't be undone
	GateCost         = "cost"
	GatePolicies     = "policies"  // that the organization or the workspace brings
	GateCritical     = "critical"  // findings of this severity, besides
	GateCondition    = "condition" // of the workspace's own, or that could not be asked
	GateUnread       = "unread"    // what the plan means is not known, or not of all of it
)

// GateConfirm is the kind of reasons that are of Gates.Confirm. They hold no plan: it waits for who may apply.
const GateConfirm = "confirm"

// gatePatience is how long a plan is looked at, with the wait for a place, before a person has to.
const gatePatience = 20 * time.Second

// judge returns why people have to look at a plan by the workspace's gates and the policies that count, or why
// it is not applied at all. A plan of which that can't be found out is held, or refused where a policy might
// have done so; the error is of a call that ends, or that comes again.
func (s *Service) judge(ctx context.Context, run Run, found result) (Verdict, error) {
	gates := run.Terms.Gates
	asked := gates.Any() || found.policies.Gates()
	if s.Insights != nil && len(found.pin.Unchecked) == 0 && run.confirms(found.counts) {
		seen, err := s.hasSeen(ctx, run, found.pin.Changes)
		if err != nil {
			return Verdict{}, err
		}
		if !seen {
			gates.Confirm = confirmFrom
		}
	}
	switch {
	case !asked && gates.Confirm == "" || !run.Kind.Mutates() || !found.counts.Any:
		return Verdict{}, nil
	case len(found.pin.Unchecked) > 0:
		return unread(found.policies,
			"the plan file can't be read, so what the plan means is its executor's word alone"), nil
	case s.Insights == nil:
		return unread(found.policies, "this server doesn't look at what plans mean"), nil
	}
	looking, stop := context.WithTimeout(ctx, gatePatience)
	defer stop()
	verdict, err := s.askGates(looking, run, gates, found.policies)
	switch {
	case err == nil:
		verdict.Reasons, verdict.Refused = bounded(verdict.Reasons), cut(verdict.Refused, maxRefused)
		return verdict.toConfirm(asked), nil
	case ctx.Err() != nil:
		return Verdict{}, ctx.Err()
	case budget.IsAtOnce(ctx) && fault.Is(err, fault.Overloaded):
		return Verdict{}, err
	}
	s.Log.WarnContext(ctx, "a plan waits for a person, because what it means could not be found out", "run", run.ID,
		"error", err)
	return unread(found.policies, "what the plan means could not be found out ("+whyUnread(looking, err)+")").
		toConfirm(asked), nil
}

// confirmFrom is the least severity of findings with which no plan is applied that nobody has said yes to.
const confirmFrom = "high"

// confirms reports whether a plan with grave findings waits for somebody to confirm it, where no gate by severity holds
// it: who may apply does, its author too. Nobody would be asked else, and nobody has asked for it to be applied without
// a question.
func (r Run) confirms(counts api.RunCounts) bool {
	asked := r.Order.AutoApprove && !r.Trigger.Is(Server())
	return r.Terms.Gates.Severity == "" && r.Terms.Approvals == 0 && !asked && r.unasked(counts)
}

// hasSeen reports whether whoever asked for the run has seen a plan of the same changes, and said yes to that.
func (s *Service) hasSeen(ctx context.Context, run Run, changes string) (bool, error) {
	if run.Order.PlanRun == "" {
		return false, nil
	}
	shown, err := s.Store.Run(ctx, Ref{run.Org, run.Order.PlanRun})
	if fault.Is(err, fault.RunNotFound) {
		return false, nil
	}
	return err == nil && shown.Workspace == run.Workspace && shown.Pin != nil && shown.Pin.Changes == changes, err
}

// toConfirm has a plan wait for who may apply because of what Gates.Confirm finds: without gates of the workspace and
// policies that is all there is.
func (v Verdict) toConfirm(asked bool) Verdict {
	var held []api.GateReason
	var texts []string
	for _, r := range v.Reasons {
		if asked && r.Gate != GateConfirm {
			held = append(held, r)
			continue
		}
		texts = append(texts, r.Reason)
	}
	v.Reasons, v.Confirm = held, cut(strings.Join(texts, "; "), maxDetail)
	return v
}

func (s *Service) askGates(ctx context.Context, run Run, gates Gates, policies Policies) (Verdict, error) {
	file, err := s.Store.FileOf(ctx, FileRef{run.Ref(), FilePlanJSON, run.Attempt})
	if err != nil {
		return Verdict{}, err
	}
	plan, err := s.planJSON(ctx, run, file)
	if err != nil {
		return Verdict{}, err
	}
	verdict, err := s.Insights.Held(ctx, plan, gates, policies)
	return verdict.masked(plan.Secrets), err
}

// masked is the verdict without secrets in what is shown of it.
func (v Verdict) masked(m *mask.Masker) Verdict {
	text := func(said string) string { return string(m.Bytes([]byte(said))) }
	v.Refused, v.Reasons = text(v.Refused), slices.Clone(v.Reasons)
	for i, r := range v.Reasons {
		v.Reasons[i].Reason, v.Reasons[i].Details = text(r.Reason), slices.Clone(r.Details)
		for j, detail := range r.Details {
			v.Reasons[i].Details[j] = text(detail)
		}
	}
	return v
}

// policies are the bundles that count for the run's workspace now.
func (s *Service) policies(ctx context.Context, run Run) (Policies, error) {
	if s.Insights == nil {
		return noPolicies{}, nil
	}
	return s.Insights.Policies(ctx, run.Org, run.Workspace)
}

// noPolicies are none.
type noPolicies struct{}

func (noPolicies) Digest() string { return "" }
func (noPolicies) Gates() bool    { return false }
func (noPolicies) Refuses() bool  { return false }

// maxRefused is how much is kept of why policies refuse a plan, in bytes.
const maxRefused = 2000

// maxDetail is how much is kept of a text about a gate.
const maxDetail = 300 // bytes

// bounded cuts what is too long to be kept with a run.
func bounded(reasons []api.GateReason) []api.GateReason {
	for i := range reasons {
		reasons[i].Reason = cut(reasons[i].Reason, maxDetail)
		for j, detail := range reasons[i].Details {
			reasons[i].Details[j] = cut(detail, maxDetail)
		}
	}
	return reasons
}

// whyUnread is the fault's code alone: its message may have a value of the plan.
func whyUnread(looking context.Context, err error) string {
	if looking.Err() != nil {
		return "it took longer than " + gatePatience.String()
	}
	return string(fault.From(err).Code)
}

// unread holds a plan that nobody can read. Where it might be refused, so it is: nobody can say yes in the place
// of a policy that no yes lets through.
func unread(policies Policies, reason string) Verdict {
	if policies.Refuses() {
		return Verdict{Refused: reason + ", and there are policies that may refuse it"}
	}
	return Verdict{Reasons: []api.GateReason{{Gate: GateUnread, Reason: reason}}}
}

// held reports whether a gate holds the run's plan.
func (r Run) held() bool { return len(r.Gates) > 0 }

// heldText says what holds the run's plan, behind what it waits for; empty for nothing.
func (r Run) heldText() string {
	if !r.held() {
		return ""
	}
	all := make([]string, len(r.Gates))
	for i, g := range r.Gates {
		all[i] = g.Reason
	}
	return ": " + strings.Join(all, "; ")
}

// heldKinds are the gates that hold the run's plan.
func (r Run) heldKinds() (kinds []string) {
	for _, g := range r.Gates {
		kinds = append(kinds, g.Gate)
		if g.Severity == GateCritical {
			kinds = append(kinds, GateCritical)
		}
	}
	return kinds
}

// heldFor reports whether the earlier plan was held by each of the gates that hold this one: whoever
// approved it has seen them.
func (e Earlier) heldFor(r Run) bool {
	for _, kind := range r.heldKinds() {
		if !slices.Contains(e.Gates, kind) {
			return false
		}
	}
	return true
}
