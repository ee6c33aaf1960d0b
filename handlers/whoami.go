package handlers

import (
	"context"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/quota"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/workspace"
)

// whoami answers who is calling. Everybody may ask: the answer is about the caller only, and
// nothing in it that who has the credentials could not find out by trying.
type whoami struct {
	// limits are those of organizations that have none of their own.
	limits auth.Limits
	nodes  int // that share them
	guard  *middleware.Guard
	quota  *quota.Keeper
	// runs and workspaces are nil where the server keeps none.
	runs       *runs.Service
	workspaces *workspace.Service
}

func (w whoami) show(ctx context.Context, r *request) (answer, error) {
	return tell(w.identity(ctx, r)), nil
}

func (w whoami) identity(ctx context.Context, r *request) api.Identity {
	p := r.caller
	said := api.Identity{
		OrgID: p.Org, OrgName: p.OrgName, KeyID: p.KeyID, KeyName: p.KeyName, Subject: p.Subject,
		Role: string(p.Role), States: p.States.List(),
		Limits:  w.limitsOf(p),
		Quota:   quotaOf(ctx, w.quota, p.Org),
		Runs:    w.standing(ctx, p),
		Address: p.Address,
	}
	if p.Run != nil {
		said.Run, said.States = p.Run.ID, []string{p.Run.State}
	}
	for _, right := range p.Rights() { // without any they stay null
		said.Rights = append(said.Rights, string(right))
	}
	if !p.Expires.IsZero() {
		expires := p.Expires.UTC()
		said.Expires = &expires
	}
	return said
}

// standing is what the caller's organization has of runs; nil where it is not known.
func (w whoami) standing(ctx context.Context, p auth.Principal) *api.RunStanding {
	if w.runs == nil || w.workspaces == nil || p.Run != nil {
		return nil
	}
	has, may, err := w.runs.Holds(ctx, p.Org)
	if err != nil {
		return nil
	}
	share := func(used, limit int) api.Share { return api.Share{Used: int64(used), Limit: int64(limit)} }
	said := &api.RunStanding{
		Files:    api.Share{Used: has.Bytes, Limit: may.StoredBytes},
		Recorded: share(has.Stored, may.Stored), Waiting: share(has.Waiting, may.Waiting),
		Working: share(has.Working, may.Working),
	}
	if p.States != nil {
		return said // by what a file adds they would learn whether another workspace has it
	}
	used, limit, err := w.workspaces.Holds(ctx, p.Org)
	if err != nil {
		return nil
	}
	said.Configurations = &api.Share{Used: used, Limit: limit}
	return said
}

// limitsOf are the caller's limits, and what is left of them.
func (w whoami) limitsOf(p auth.Principal) api.Limits {
	limits := api.Limits{Requests: limitOf(p.Limits.Requests, w.limits.Requests),
		States: limitOf(p.Limits.States, w.limits.States)}
	if w.nodes > 1 {
		limits.Nodes = w.nodes
	}
	requests, states, operations := w.guard.Left(p)
	if limits.Requests != nil {
		limits.RequestsLeft = &requests
	}
	if limits.States != nil {
		limits.StatesLeft, limits.OperationsLeft = &states, &operations
	}
	return limits
}

// limitOf is an organization's own limit, or else the usual one; nil for none.
func limitOf(own, usual int) *int {
	if own == 0 {
		own = usual
	}
	if own <= 0 {
		return nil
	}
	return &own
}
