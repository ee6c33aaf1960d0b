package runs

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// The first letters of the secrets of pools and agents, by which people and scanners know them.
const (
	PoolTokenPrefix   = "hfp_"
	AgentSecretPrefix = "hfa_"
)

const (
	maxPools  = 100
	maxAgents = 1000 // of an organization
)

// newSecret returns a secret of 256 bits, and the hash that is kept of it: it is long enough that
// a fast hash gives nothing away.
func newSecret(prefix string) (secret string, hash []byte) {
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails
	secret = prefix + base64.RawURLEncoding.EncodeToString(raw[:])
	return secret, hashOf(secret)
}

func hashOf(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// CreatePool makes a pool of agents. Its token is told once. Faults: RunInvalid, PoolExists,
// RunsFull.
func (s *Service) CreatePool(ctx context.Context, p auth.Principal, name string, workspaces []string) (pool Pool, token string, err error) {
	have, err := s.poolsFor(ctx, p)
	if err != nil {
		return Pool{}, "", err
	}
	if err := checkPool(name, workspaces); err != nil {
		return Pool{}, "", err
	}
	switch {
	case slices.ContainsFunc(have, func(h Pool) bool { return h.Name == name }):
		return Pool{}, "", fault.New(fault.PoolExists, "there is a pool %s already: rotate its token, or remove it", name)
	case len(have) >= maxPools:
		return Pool{}, "", fault.New(fault.RunsFull, "an organization may have %d pools", maxPools)
	}
	pool = Pool{Org: p.Org, Name: name, Workspaces: workspaces, CreatedAt: s.clock()}
	return s.withToken(ctx, p, audit.PoolCreate, pool)
}

// RotatePool gives a pool a new token; the old one is good no more. Agents that have registered
// stay. The token is told once. Its fault: PoolNotFound.
func (s *Service) RotatePool(ctx context.Context, p auth.Principal, name string) (pool Pool, token string, err error) {
	have, err := s.poolsFor(ctx, p)
	if err != nil {
		return Pool{}, "", err
	}
	i := slices.IndexFunc(have, func(h Pool) bool { return h.Name == name })
	if i < 0 {
		return Pool{}, "", fault.New(fault.PoolNotFound, "there is no pool of this name")
	}
	return s.withToken(ctx, p, audit.PoolRotate, have[i])
}

// poolsFor returns the pools for who may change them.
func (s *Service) poolsFor(ctx context.Context, p auth.Principal) ([]Pool, error) {
	if err := s.Gate.Authorize(ctx, p, auth.ManageAgents); err != nil {
		return nil, err
	}
	return s.Store.Pools(ctx, p.Org)
}

func checkPool(name string, workspaces []string) error {
	if ok, _ := regexp.MatchString(`^[a-z0-9][a-z0-9._-]{0,62}$`, name); !ok {
		return fault.New(fault.RunInvalid, "a pool's name has up to 63 small letters, digits, dots, dashes and underscores, and begins with a letter or digit")
	}
	if _, err := patternsOf(workspaces); err != nil {
		return fault.Wrap(err, fault.RunInvalid, "the pool's workspaces: %v", err)
	}
	return nil
}

// withToken keeps the pool with a new token.
func (s *Service) withToken(ctx context.Context, p auth.Principal, action audit.Action, pool Pool) (Pool, string, error) {
	token, hash := newSecret(PoolTokenPrefix)
	pool.TokenHash = hash
	if err := s.Store.PutPool(ctx, pool); err != nil {
		return Pool{}, "", err
	}
	s.recordPool(ctx, p, action, pool.Name)
	return pool, token, nil
}

// Fleet is what an organization has of agents.
type Fleet struct {
	Pools  []Pool
	Agents []Agent
	Runs   map[string][]string // IDs of those that an agent has, by its ID
}

// Pools returns the organization's pools and agents, with the runs that the caller may see.
func (s *Service) Pools(ctx context.Context, p auth.Principal) (f Fleet, err error) {
	if err := s.Gate.Authorize(ctx, p, auth.ReadRun); err != nil {
		return Fleet{}, err
	}
	if f.Pools, err = s.Store.Pools(ctx, p.Org); err != nil {
		return Fleet{}, err
	}
	if f.Agents, err = s.Store.AgentsOf(ctx, p.Org); err != nil {
		return Fleet{}, err
	}
	had, err := s.Store.Leased(ctx, p.Org, "")
	f.Runs = map[string][]string{}
	for _, run := range had {
		if p.States.Match(run.Workspace) {
			f.Runs[run.Executor.Agent] = append(f.Runs[run.Executor.Agent], run.ID)
		}
	}
	return f, err
}

// RemovePool takes a pool away: its agents can claim nothing more, and renew no lease.
func (s *Service) RemovePool(ctx context.Context, p auth.Principal, name string) error {
	if err := s.Gate.Authorize(ctx, p, auth.ManageAgents); err != nil {
		return err
	}
	if err := s.Store.RemovePool(ctx, p.Org, name); err != nil {
		return err
	}
	s.recordPool(ctx, p, audit.PoolRemove, name)
	return nil
}

// Register makes an agent of the pool whose token this is. Its secret is told once.
func (s *Service) Register(ctx context.Context, p auth.Principal, token string, r api.AgentRegistration) (agent Agent, secret string, err error) {
	pool, err := s.Store.PoolByToken(ctx, hashOf(token))
	if err != nil {
		return Agent{}, "", err
	}
	agent, secret, err = s.register(ctx, pool, r)
	event := audit.Event{At: s.clock(), Org: pool.Org, Actor: audit.ActorOf(p), Action: audit.AgentRegister, Note: "agent " + agent.ID + " of pool " + pool.Name}
	if err != nil {
		event.Note, event.Refused = "pool "+pool.Name, fault.From(err).Code
	}
	s.keep(ctx, event)
	return agent, secret, err
}

func (s *Service) register(ctx context.Context, pool Pool, r api.AgentRegistration) (agent Agent, secret string, err error) {
	if longest(r.Name, r.Version, r.System, r.Sandbox, r.BootID) > maxWord {
		return Agent{}, "", fault.New(fault.RunInvalid, "what an agent says of itself has at most %d bytes each", maxWord)
	}
	have, err := s.Store.AgentsOf(ctx, pool.Org)
	if err != nil {
		return Agent{}, "", err
	}
	if len(have) >= maxAgents {
		return Agent{}, "", fault.New(fault.RunsFull, "an organization may have %d agents", maxAgents)
	}
	now := s.clock()
	secret, hash := newSecret(AgentSecretPrefix)
	agent = Agent{
		Org: pool.Org, ID: newID(now), Pool: pool.Name, Name: r.Name, Version: r.Version, System: r.System, Sandbox: r.Sandbox,
		BootID: r.BootID, SecretHash: hash, CreatedAt: now, Seen: now,
	}
	return agent, secret, s.Store.PutAgent(ctx, agent)
}

// WorkerOf recognises an agent by its secret. Its fault: CredentialsWrong.
func (s *Service) WorkerOf(ctx context.Context, id, secret string, c api.AgentClaim) (Worker, error) {
	agent, err := s.agent(ctx, id, secret)
	if err != nil {
		return Worker{}, err
	}
	pools, err := s.Store.Pools(ctx, agent.Org)
	if err != nil {
		return Worker{}, err
	}
	i := slices.IndexFunc(pools, func(pool Pool) bool { return pool.Name == agent.Pool })
	if i < 0 {
		return Worker{}, fault.New(fault.CredentialsWrong, "the agent's pool is gone: register it again with another pool's token")
	}
	if err := s.ProveDead(ctx, []uuid.UUID{agent.Org}, agent.ID, c.BootID); err != nil {
		return Worker{}, err
	}
	agent.Draining, agent.Seen, agent.Sandbox, agent.BootID = c.Draining, s.clock(), c.Sandbox, c.BootID
	return workerOf(agent, pools[i]), s.Store.PutAgent(ctx, agent)
}

func workerOf(agent Agent, pool Pool) Worker {
	return Worker{ID: agent.ID, Name: agent.Name, Pool: pool.Name, Orgs: []uuid.UUID{agent.Org}, Serves: pool.serves}
}

// Serves returns why a pool is none whose agents execute the workspace's runs; nil if it is one.
// Faults: PoolNotFound, PoolOther.
func (s *Service) Serves(ctx context.Context, org uuid.UUID, name, workspace string) error {
	pools, err := s.Store.Pools(ctx, org)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(pools, func(pool Pool) bool { return pool.Name == name })
	switch {
	case i < 0:
		return fault.New(fault.PoolNotFound, "there is no pool of agents %q: see `holdfast pool list`", name)
	case !pools[i].serves(workspace):
		return fault.New(fault.PoolOther, "the pool %s does not serve the workspace %s", name, workspace)
	}
	return nil
}

// serves reports whether the pool's agents execute the workspace's runs.
func (p Pool) serves(workspace string) bool {
	patterns, err := patternsOf(p.Workspaces)
	return err == nil && patterns.Match(workspace)
}

// ProveDead ends the lost applies of an executor whose machine was started since: nothing of
// them can be left.
func (s *Service) ProveDead(ctx context.Context, orgs []uuid.UUID, id, bootID string) error {
	for _, org := range orgs {
		if err := s.proveDead(ctx, org, id, bootID); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) proveDead(ctx context.Context, org uuid.UUID, id, bootID string) error {
	if bootID == "" {
		return nil
	}
	had, err := s.Store.Leased(ctx, org, id)
	if err != nil {
		return err
	}
	for _, run := range had {
		if run.Status != Orphaned || run.Executor == nil || run.Executor.BootID == "" || run.Executor.BootID == bootID {
			continue
		}
		if _, err := s.resolve(ctx, run, Server(), "the machine of its executor was started anew, so nothing of the apply is left"); err != nil {
			return err
		}
	}
	return nil
}

// patternsOf are those that a pool's workspaces are given by; nil for all.
func patternsOf(workspaces []string) (*auth.Patterns, error) {
	if len(workspaces) == 0 {
		return nil, nil
	}
	return auth.ParsePatterns(strings.Join(workspaces, ","))
}
