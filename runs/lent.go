package runs

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// A pool works for another organization when both have said so: its own grants it, by the other's
// UUID, and the other one accepts it under the same name. What the agents get then, the
// configuration and the variables, leaves that other organization. Either side may end it, and
// what was claimed before goes on to its end.

// maxGrants is to how many organizations a pool may be lent.
const maxGrants = 50

// isLent reports whether it is another organization's.
func (p Pool) isLent() bool { return p.Lender != uuid.Nil }

// GrantPool lends a pool to another organization, or changes for which of its workspaces. Faults:
// PoolNotFound, RunInvalid, RunsFull.
func (s *Service) GrantPool(ctx context.Context, p auth.Principal, name string, to uuid.UUID,
	workspaces []string) (Pool, error) {
	return s.changeGrants(ctx, p, audit.PoolGrant, name, to, func(pool *Pool) error {
		if len(pool.Grants) >= maxGrants {
			return fault.New(fault.RunsFull, "a pool may be lent to %d organizations", maxGrants)
		}
		pool.Grants = append(pool.Grants, PoolGrant{Org: to, Workspaces: workspaces, At: s.clock()})
		return checkPatterns(workspaces)
	})
}

// RevokePool lends a pool to another organization no more. One that it isn't lent to is fine.
// Faults: PoolNotFound, RunInvalid.
func (s *Service) RevokePool(ctx context.Context, p auth.Principal, name string, from uuid.UUID) (Pool, error) {
	return s.changeGrants(ctx, p, audit.PoolRevoke, name, from, func(*Pool) error { return nil })
}

// changeGrants has change see the pool without its grant to an organization.
func (s *Service) changeGrants(ctx context.Context, p auth.Principal, action audit.Action, name string, org uuid.UUID,
	change func(*Pool) error) (Pool, error) {
	if org == uuid.Nil || org == p.Org {
		return Pool{}, fault.New(fault.RunInvalid, "a pool is lent to another organization, by its UUID")
	}
	return s.updatePool(ctx, p, action, name+" to "+org.String(), func(have []Pool) (Pool, error) {
		i := indexOf(have, name)
		if i < 0 || have[i].isLent() {
			return Pool{}, fault.New(fault.PoolNotFound, "your organization has no pool of its own of this name")
		}
		pool := &have[i]
		pool.Grants = slices.DeleteFunc(pool.Grants, func(g PoolGrant) bool { return g.Org == org })
		pool.Former = append(slices.DeleteFunc(slices.Clone(pool.Former), func(o uuid.UUID) bool { return o == org }), org)
		pool.Former = pool.Former[max(len(pool.Former)-maxGrants, 0):]
		err := change(pool)
		return *pool, err
	})
}

// AcceptPool makes a pool of one that another organization lends. Its agents get what runs of these
// workspaces need, secrets too. Faults: PoolNotFound where nothing is lent, PoolExists, RunInvalid.
func (s *Service) AcceptPool(ctx context.Context, p auth.Principal, name string, lender uuid.UUID,
	workspaces []string) (Pool, error) {
	if err := s.Gate.Authorize(ctx, p, auth.ManageAgents); err != nil {
		return Pool{}, err
	}
	_, hash := newSecret(PoolTokenPrefix) // that nobody knows
	pool := Pool{Org: p.Org, Name: name, Workspaces: workspaces, TokenHash: hash, Lender: lender}
	owner, err := s.lenderOf(ctx, pool)
	if err != nil {
		return Pool{}, err
	}
	if owner == nil {
		return Pool{}, fault.New(fault.PoolNotFound, "that organization lends yours no pool of this name")
	}
	return s.addPool(ctx, p, audit.PoolAccept, pool)
}

// lenderOf returns the pool that is lent as this one; nil where it is not, or not any more.
func (s *Service) lenderOf(ctx context.Context, lent Pool) (*Pool, error) {
	found, err := s.Store.PoolsNamed(ctx, lent.Name, []uuid.UUID{lent.Lender})
	if err != nil || len(found) == 0 || found[0].isLent() || found[0].grantTo(lent.Org) == nil {
		return nil, err
	}
	return &found[0], nil
}

// isLent reports whether a pool that was accepted is lent still, for a workspace.
func (s *Service) isLent(ctx context.Context, lent Pool, workspace string) (bool, error) {
	owner, err := s.lenderOf(ctx, lent)
	return owner != nil && owner.lends(lent, workspace), err
}

// borrowers are the organizations of which the pool's agents may have runs, also such as it is lent
// to no more: what was claimed before goes on to its end.
func (p Pool) borrowers() []uuid.UUID {
	all := slices.Clone(p.Former)
	for _, g := range p.Grants {
		if !slices.Contains(all, g.Org) {
			all = append(all, g.Org)
		}
	}
	return all
}

// accepted returns the pools as which organizations have accepted this one.
func (s *Service) accepted(ctx context.Context, pool Pool) ([]Pool, error) {
	var orgs []uuid.UUID
	for _, g := range pool.Grants {
		orgs = append(orgs, g.Org)
	}
	found, err := s.Store.PoolsNamed(ctx, pool.Name, orgs)
	return slices.DeleteFunc(found, func(other Pool) bool { return other.Lender != pool.Org }), err
}

func (p Pool) grantTo(org uuid.UUID) *PoolGrant {
	i := slices.IndexFunc(p.Grants, func(g PoolGrant) bool { return g.Org == org })
	if i < 0 {
		return nil
	}
	return &p.Grants[i]
}

// lends reports whether the pool may execute the runs of a workspace of an organization that has
// accepted it: both sides must want that.
func (p Pool) lends(lent Pool, workspace string) bool {
	grant := p.grantTo(lent.Org)
	return grant != nil && lent.Lender == p.Org && lent.serves(workspace) && matches(grant.Workspaces, workspace)
}
