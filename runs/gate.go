package runs

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
)

// Gates say which plans wait for somebody who may approve, whatever is applied without a question.
// The zero value holds none.
type Gates struct {
	Severity     string `json:",omitempty"` // the least of a finding that holds a plan: critical or high; empty for none
	Irreversible bool   `json:",omitempty"` // a change that can't be undone does
	MonthlyCost  int64  `json:",omitempty"` // and costing more dollars a month than before; 0 for none
}

// Any reports whether there is a gate at all.
func (g Gates) Any() bool { return g != Gates{} }

// What holds a plan.
const (
	GateFindings     = "findings"     // of the severity, or a graver one
	GateRules        = "rules"        // that could not be asked
	GateIrreversible = "irreversible" // changes that can't be undone
	GateCost         = "cost"
	GateUnread       = "unread" // what the plan means is not known, or not of all of it
)

// gatePatience is how long a plan is looked at, with the wait for a place, before a person has to.
const gatePatience = 20 * time.Second

// heldBy returns why people have to look at a plan by the workspace's gates. A plan of which that can't be
// found out is held; the error is of a call that ends, or that comes again.
func (s *Service) heldBy(ctx context.Context, run Run, found result) ([]api.GateReason, error) {
	gates := run.Terms.Gates
	switch {
	case !gates.Any() || !run.Kind.Mutates() || !found.counts.Any:
		return nil, nil
	case len(found.pin.Unchecked) > 0:
		return unread("the plan file can't be read, so what the plan means is its executor's word alone"), nil
	case s.Insights == nil:
		return unread("this server doesn't look at what plans mean"), nil
	}
	looking, stop := context.WithTimeout(ctx, gatePatience)
	defer stop()
	reasons, err := s.askGates(looking, run, gates)
	switch {
	case err == nil:
		return bounded(reasons), nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case budget.IsAtOnce(ctx) && fault.Is(err, fault.Overloaded):
		return nil, err
	}
	s.Log.WarnContext(ctx, "a plan waits for a person, because what it means could not be found out", "run", run.ID,
		"error", err)
	return unread("what the plan means could not be found out (" + whyUnread(looking, err) + ")"), nil
}

func (s *Service) askGates(ctx context.Context, run Run, gates Gates) ([]api.GateReason, error) {
	file, err := s.Store.FileOf(ctx, FileRef{run.Ref(), FilePlanJSON, run.Attempt})
	if err != nil {
		return nil, err
	}
	return s.Insights.Held(ctx, s.planJSON(ctx, file), gates)
}

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

func unread(reason string) []api.GateReason {
	return []api.GateReason{{Gate: GateUnread, Reason: reason}}
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
