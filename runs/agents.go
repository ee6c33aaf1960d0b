package runs

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// AgentSilence is after how long without a word an agent counts as silent: agents ask for work every half minute.
const AgentSilence = 2 * time.Minute

// Register makes an agent of the pool whose token this is. Its secret is told once.
func (s *Service) Register(ctx context.Context, p auth.Principal, token string,
	r api.AgentRegistration) (agent Agent, secret string, err error) {
	pool, err := s.Store.PoolByToken(ctx, hashOf(token))
	if err != nil {
		return Agent{}, "", err
	}
	agent, secret, err = s.registered(ctx, pool, r)
	event := audit.Event{At: s.clock(), Org: pool.Org, Actor: audit.ActorOf(p), Action: audit.AgentRegister,
		Note: "agent " + agent.ID + " of pool " + pool.Name}
	if err != nil {
		event.Note, event.Refused = "pool "+pool.Name, fault.From(err).Code
		s.keep(ctx, event)
		return Agent{}, "", err
	}
	if err := audit.Before(ctx, s.Audit, event, func() error { return s.Store.PutAgent(ctx, agent) }); err != nil {
		return Agent{}, "", err
	}
	return agent, secret, nil
}

// registered makes an agent, which is not kept yet.
func (s *Service) registered(ctx context.Context, pool Pool,
	r api.AgentRegistration) (agent Agent, secret string, err error) {
	if longest(r.Name, r.Version, r.System, r.Sandbox, r.BootID) > maxWord {
		return Agent{}, "", fault.New(fault.RunInvalid, "what an agent says of itself has at most %d bytes each", maxWord)
	}
	have, err := s.Store.AgentsOf(ctx, pool.Org)
	if err != nil {
		return Agent{}, "", err
	}
	if err := checkRoom(have, pool.Name); err != nil {
		return Agent{}, "", err
	}
	now := s.clock()
	secret, hash := newSecret(AgentSecretPrefix)
	agent = Agent{
		Org: pool.Org, ID: newID(now), Pool: pool.Name, Name: r.Name, Version: r.Version, System: r.System,
		Sandbox: r.Sandbox,
		BootID:  r.BootID, SecretHash: hash, CreatedAt: now, Seen: now,
	}
	return agent, secret, nil
}

// checkRoom refuses one more agent of a pool beside those that the organization has.
func checkRoom(have []Agent, pool string) error {
	if len(have) >= maxAgents {
		return fault.New(fault.RunsFull, "an organization may have %d agents", maxAgents)
	}
	ofPool := 0
	for _, agent := range have {
		if agent.Pool == pool {
			ofPool++
		}
	}
	if ofPool >= maxPoolAgents {
		return fault.New(fault.RunsFull, "a pool may have %d agents", maxPoolAgents)
	}
	return nil
}

// WorkerOf recognises an agent by its secret. It works for its own organization, and for those that
// its pool is lent to. Its fault: CredentialsWrong.
func (s *Service) WorkerOf(ctx context.Context, id, secret string, c api.AgentClaim) (Worker, error) {
	agent, w, err := s.recognise(ctx, id, secret)
	if err != nil {
		return Worker{}, err
	}
	w.Again = func(ctx context.Context) (Worker, error) {
		_, now, err := s.recognise(ctx, id, secret)
		return now, err
	}
	if err := s.ProveDead(ctx, slices.Concat(w.Orgs, w.Had), agent.ID, c.BootID); err != nil {
		return Worker{}, err
	}
	agent.Draining, agent.Seen, agent.Sandbox, agent.BootID = c.Draining, s.clock(), c.Sandbox, c.BootID
	return w, s.Store.PutAgent(ctx, agent)
}

// recognise returns an agent, and for whom it works by now.
func (s *Service) recognise(ctx context.Context, id, secret string) (Agent, Worker, error) {
	agent, err := s.agent(ctx, id, secret)
	if err != nil {
		return Agent{}, Worker{}, err
	}
	own, err := s.Store.PoolsNamed(ctx, agent.Pool, []uuid.UUID{agent.Org})
	if err != nil {
		return Agent{}, Worker{}, err
	}
	if len(own) == 0 || own[0].isLent() {
		return Agent{}, Worker{}, fault.New(fault.CredentialsWrong,
			"the agent's pool is gone: register it again with another pool's token")
	}
	lent, err := s.accepted(ctx, own[0])
	if err != nil {
		return Agent{}, Worker{}, err
	}
	w := workerOf(agent, own[0], lent)
	w.Had = slices.DeleteFunc(own[0].borrowers(), func(org uuid.UUID) bool { return slices.Contains(w.Orgs, org) })
	return agent, w, nil
}

// workerOf is an agent of a pool, and of those that are the same one lent.
func workerOf(agent Agent, pool Pool, lent []Pool) Worker {
	w := Worker{ID: agent.ID, Name: agent.Name, Pool: pool.Name, Orgs: []uuid.UUID{agent.Org}}
	for _, other := range lent {
		w.Orgs = append(w.Orgs, other.Org)
	}
	w.Serves = func(org uuid.UUID, workspace string) bool {
		if org == pool.Org {
			return pool.serves(workspace)
		}
		i := slices.IndexFunc(lent, func(other Pool) bool { return other.Org == org })
		return i >= 0 && pool.lends(lent[i], workspace)
	}
	return w
}

// ProveDead ends the lost applies of an executor whose machine was started since: nothing of
// them can be left.
func (s *Service) ProveDead(ctx context.Context, orgs []uuid.UUID, id, bootID string) error {
	if bootID == "" {
		return nil
	}
	had, err := s.Store.Leased(ctx, orgs, id)
	if err != nil {
		return err
	}
	for _, run := range had {
		if run.Status != Orphaned || run.Executor == nil || run.Executor.BootID == "" || run.Executor.BootID == bootID {
			continue
		}
		if _, err := s.resolve(ctx, run, Server(),
			"the machine of its executor was started anew, so nothing of the apply is left", nil); err != nil {
			return err
		}
	}
	return nil
}
