package handlers

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
)

// pools lists an organization's pools with their agents.
func (h runHandlers) pools(ctx context.Context, r *request) (answer, error) {
	return h.lists.answer(ctx, r, maxRunOrderBytes, func() (listing, error) {
		fleet, err := h.service.Pools(ctx, r.caller)
		all := make([]api.AgentPool, len(fleet.Pools))
		for i, pool := range fleet.Pools {
			all[i] = poolOf(pool)
			for _, agent := range fleet.Agents {
				if agent.Pool == pool.Name {
					said := agent.Wire()
					said.Runs = fleet.Runs[agent.ID]
					all[i].Agents = append(all[i].Agents, said)
				}
			}
		}
		l := listOf(api.AgentPools{Pools: []api.AgentPool{}}, "pools", all, rowBytes,
			func(p api.AgentPool) api.AgentPool { return p })
		for _, pool := range fleet.Pools {
			for _, pattern := range pool.Workspaces {
				l.takes += partBytes + int64(len(pattern))
			}
		}
		l.takes += int64(len(fleet.Agents)) * 2 * agentBytes
		for _, pool := range fleet.Pools {
			l.takes += int64(len(pool.Grants)) * 2 * agentBytes
		}
		return l, err
	})
}

// agentBytes is the most that an agent takes in a list.
const agentBytes = 2 << 10

func poolOf(p runs.Pool) api.AgentPool {
	said := api.AgentPool{Name: p.Name, CreatedAt: p.CreatedAt, Workspaces: p.Workspaces}
	if p.Lender != uuid.Nil {
		said.Lender = p.Lender.String()
	}
	for _, g := range p.Grants {
		said.Grants = append(said.Grants,
			api.PoolGrant{Organization: g.Org.String(), Workspaces: g.Workspaces, CreatedAt: g.At})
	}
	return said
}

// createPool makes a pool, and tells its token once; or accepts one of another organization.
func (h runHandlers) createPool(ctx context.Context, r *request) (answer, error) {
	order := objectOr[api.PoolOrder](r, fault.RunInvalid)
	var lender uuid.UUID
	if order.Lender != "" {
		lender = r.organization(order.Lender)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	if order.Lender != "" {
		pool, err := h.service.AcceptPool(ctx, r.caller, order.Name, lender, order.Workspaces)
		return told{status: http.StatusCreated, body: poolOf(pool)}, err
	}
	pool, token, err := h.service.CreatePool(ctx, r.caller, order.Name, order.Workspaces)
	made := poolOf(pool)
	made.Token = token
	return told{status: http.StatusCreated, body: made}, err
}

// organization reads the UUID of another organization.
func (r *request) organization(text string) uuid.UUID {
	org, err := uuid.Parse(text)
	if err != nil {
		r.check(fault.New(fault.RunInvalid, "%.64q is not the UUID of an organization", text))
	}
	return org
}

// changePool has a pool serve other workspaces.
func (h runHandlers) changePool(ctx context.Context, r *request) (answer, error) {
	change := objectOr[api.PoolChange](r, fault.RunInvalid)
	if err := r.err(); err != nil {
		return nil, err
	}
	pool, err := h.service.ConfigurePool(ctx, r.caller, r.inPath("pool"), change.Workspaces)
	return tell(poolOf(pool)), err
}

// grantPool lends a pool to another organization.
func (h runHandlers) grantPool(ctx context.Context, r *request) (answer, error) {
	order := objectOr[api.GrantOrder](r, fault.RunInvalid)
	to := r.organization(order.Organization)
	if err := r.err(); err != nil {
		return nil, err
	}
	pool, err := h.service.GrantPool(ctx, r.caller, r.inPath("pool"), to, order.Workspaces)
	return tell(poolOf(pool)), err
}

// revokePool lends it no more.
func (h runHandlers) revokePool(ctx context.Context, r *request) (answer, error) {
	from := r.organization(r.inPath("organization"))
	if err := r.err(); err != nil {
		return nil, err
	}
	pool, err := h.service.RevokePool(ctx, r.caller, r.inPath("pool"), from)
	return tell(poolOf(pool)), err
}

// rotatePool gives a pool another token, and tells it once.
func (h runHandlers) rotatePool(ctx context.Context, r *request) (answer, error) {
	runObject[struct{}](r)
	if err := r.err(); err != nil {
		return nil, err
	}
	pool, token, err := h.service.RotatePool(ctx, r.caller, r.inPath("pool"))
	changed := poolOf(pool)
	changed.Token = token
	return tell(changed), err
}

// removePool takes a pool and its agents away.
func (h runHandlers) removePool(ctx context.Context, r *request) (answer, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	return done(), h.service.RemovePool(ctx, r.caller, r.inPath("pool"))
}
