package handlers

import (
	"context"
	"net/http"

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
		l := listOf(api.AgentPools{Pools: []api.AgentPool{}}, "pools", all, rowBytes, func(p api.AgentPool) api.AgentPool { return p })
		for _, pool := range fleet.Pools {
			for _, pattern := range pool.Workspaces {
				l.takes += partBytes + int64(len(pattern))
			}
		}
		l.takes += int64(len(fleet.Agents)) * 2 * agentBytes
		return l, err
	})
}

// agentBytes is the most that an agent takes in a list.
const agentBytes = 2 << 10

func poolOf(p runs.Pool) api.AgentPool {
	return api.AgentPool{Name: p.Name, CreatedAt: p.CreatedAt, Workspaces: p.Workspaces}
}

// createPool makes a pool, and tells its token once.
func (h runHandlers) createPool(ctx context.Context, r *request) (answer, error) {
	order := objectOr[api.PoolOrder](r, fault.RunInvalid)
	if err := r.err(); err != nil {
		return nil, err
	}
	pool, token, err := h.service.CreatePool(ctx, r.caller, order.Name, order.Workspaces)
	made := poolOf(pool)
	made.Token = token
	return told{status: http.StatusCreated, body: made}, err
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
