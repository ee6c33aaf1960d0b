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
	// maxPoolAgents are of one pool: whoever has its token leaves the other pools theirs.
	maxPoolAgents = maxAgents / 2
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
func (s *Service) CreatePool(ctx context.Context, p auth.Principal, name string,
	workspaces []string) (pool Pool, token string, err error) {
	token, hash := newSecret(PoolTokenPrefix)
	pool, err = s.addPool(ctx, p, audit.PoolCreate, Pool{Name: name, Workspaces: workspaces, TokenHash: hash})
	return pool, token, err
}

// addPool keeps a pool that is not there yet.
func (s *Service) addPool(ctx context.Context, p auth.Principal, action audit.Action, pool Pool) (Pool, error) {
	pool.Org, pool.CreatedAt = p.Org, s.clock()
	return s.updatePool(ctx, p, action, pool.Name, func(have []Pool) (Pool, error) {
		switch {
		case indexOf(have, pool.Name) >= 0:
			return Pool{}, fault.New(fault.PoolExists, "there is a pool %s already: rotate its token, or remove it", pool.Name)
		case len(have) >= maxPools:
			return Pool{}, fault.New(fault.RunsFull, "an organization may have %d pools", maxPools)
		}
		return pool, checkPool(pool.Name, pool.Workspaces)
	})
}

// RotatePool gives a pool a new token; the old one is good no more. Agents that have registered
// stay. The token is told once. Its fault: PoolNotFound.
func (s *Service) RotatePool(ctx context.Context, p auth.Principal, name string) (pool Pool, token string, err error) {
	token, hash := newSecret(PoolTokenPrefix)
	pool, err = s.changePool(ctx, p, audit.PoolRotate, name, func(pool *Pool) error {
		if pool.isLent() {
			return fault.New(fault.RunInvalid, "the pool %s is another organization's, which has its token", name)
		}
		pool.TokenHash = hash
		return nil
	})
	return pool, token, err
}

// ConfigurePool has a pool serve other workspaces. Faults: PoolNotFound, RunInvalid.
func (s *Service) ConfigurePool(ctx context.Context, p auth.Principal, name string, workspaces []string) (Pool, error) {
	return s.changePool(ctx, p, audit.PoolChange, name, func(pool *Pool) error {
		pool.Workspaces = workspaces
		return checkPool(name, workspaces)
	})
}

// changePool changes a pool that is there.
func (s *Service) changePool(ctx context.Context, p auth.Principal, action audit.Action, name string,
	change func(*Pool) error) (Pool, error) {
	return s.updatePool(ctx, p, action, name, func(have []Pool) (Pool, error) {
		i := indexOf(have, name)
		if i < 0 {
			return Pool{}, fault.New(fault.PoolNotFound, "there is no pool of this name")
		}
		err := change(&have[i])
		return have[i], err
	})
}

// updatePool has a decision about pools carried out, for who may change them.
func (s *Service) updatePool(ctx context.Context, p auth.Principal, action audit.Action, note string,
	decide func([]Pool) (Pool, error)) (Pool, error) {
	if err := s.Gate.Authorize(ctx, p, auth.ManageAgents); err != nil {
		return Pool{}, err
	}
	var pool Pool
	err := s.poolOnRecord(ctx, p, action, note, func() (err error) {
		pool, err = s.Store.UpdatePool(ctx, p.Org, func(have []Pool) (Pool, error) {
			before := slices.Clone(have)
			next, err := decide(have)
			if err != nil {
				return next, err
			}
			if i := indexOf(before, next.Name); i >= 0 {
				if err := mayManage(p, before[i]); err != nil {
					return next, err
				}
			}
			return next, mayManage(p, next)
		})
		return err
	})
	return pool, s.poolRefused(ctx, p, err)
}

// mayManage refuses a pool that serves other workspaces than the caller's key is for: whoever has its token is given
// what runs of these need, their secrets and their states.
func mayManage(p auth.Principal, pool Pool) error {
	served, err := patternsOf(pool.Workspaces)
	if err != nil {
		return err
	}
	if p.States.Covers(served) {
		return nil
	}
	return fault.New(fault.RightMissing,
		"this key may not do that: it has the right %s only for pools of which all workspaces are within %s",
		auth.ManageAgents, p.States)
}

// poolRefused puts it on record that somebody has the right and may not use it on a pool.
func (s *Service) poolRefused(ctx context.Context, p auth.Principal, err error) error {
	if !fault.Is(err, fault.RightMissing) {
		return err
	}
	return s.denied(ctx, p, auth.ManageAgents, Run{}, err)
}

func indexOf(pools []Pool, name string) int {
	return slices.IndexFunc(pools, func(pool Pool) bool { return pool.Name == name })
}

func checkPool(name string, workspaces []string) error {
	if ok, _ := regexp.MatchString(`^[a-z0-9][a-z0-9._-]{0,62}$`, name); !ok {
		return fault.New(fault.RunInvalid,
			"a pool's name has up to 63 small letters, digits, dots, dashes and underscores, and begins with a letter or digit")
	}
	return checkPatterns(workspaces)
}

// maxPatternBytes is how long the patterns of a pool may be in all.
const maxPatternBytes = 4 << 10

func checkPatterns(workspaces []string) error {
	if n := len(strings.Join(workspaces, ",")); n > maxPatternBytes {
		return fault.New(fault.RunInvalid, "the pool's workspaces have %d bytes; at most %d are allowed", n, maxPatternBytes)
	}
	if _, err := patternsOf(workspaces); err != nil {
		return fault.Wrap(err, fault.RunInvalid, "the pool's workspaces: %v", err)
	}
	return nil
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
	had, err := s.Store.Leased(ctx, []uuid.UUID{p.Org}, "")
	f.Runs = map[string][]string{}
	for _, run := range had {
		if p.States.Match(run.Workspace) {
			f.Runs[run.Executor.Agent] = append(f.Runs[run.Executor.Agent], run.ID)
		}
	}
	return f, err
}

// RemovePool takes a pool away, with its agents: they can claim nothing more. What one of them has begun goes on to its
// end, by the token of the run alone: an apply that is cut off may lose what it has made. Who wants that ended cancels
// the run.
func (s *Service) RemovePool(ctx context.Context, p auth.Principal, name string) error {
	if err := s.Gate.Authorize(ctx, p, auth.ManageAgents); err != nil {
		return err
	}
	return s.poolRefused(ctx, p, s.poolOnRecord(ctx, p, audit.PoolRemove, name, func() error {
		had, err := s.Store.PoolsNamed(ctx, name, []uuid.UUID{p.Org})
		if err != nil {
			return err
		}
		for _, pool := range had {
			if err := mayManage(p, pool); err != nil {
				return err
			}
		}
		return s.Store.RemovePool(ctx, p.Org, name)
	}))
}

// Serves returns why a pool is none whose agents execute the workspace's runs; nil if it is one.
// Faults: PoolNotFound, PoolOther.
func (s *Service) Serves(ctx context.Context, org uuid.UUID, name, workspace string) error {
	pools, err := s.Store.PoolsNamed(ctx, name, []uuid.UUID{org})
	if err != nil {
		return err
	}
	if len(pools) == 0 {
		return fault.New(fault.PoolNotFound, "there is no pool of agents %q: see `holdfast pool list`", name)
	}
	serves := pools[0].serves(workspace)
	if serves && pools[0].isLent() {
		if serves, err = s.isLent(ctx, pools[0], workspace); err != nil {
			return err
		}
	}
	if !serves {
		return fault.New(fault.PoolOther, "the pool %s does not serve the workspace %s", name, workspace)
	}
	return nil
}

// serves reports whether the pool's agents execute the workspace's runs.
func (p Pool) serves(workspace string) bool { return matches(p.Workspaces, workspace) }

// matches reports whether one of the patterns is of the workspace; none are of all.
func matches(workspaces []string, workspace string) bool {
	patterns, err := patternsOf(workspaces)
	return err == nil && patterns.Match(workspace)
}

// patternsOf are those that a pool's workspaces are given by; nil for all.
func patternsOf(workspaces []string) (*auth.Patterns, error) {
	if len(workspaces) == 0 {
		return nil, nil
	}
	return auth.ParsePatterns(strings.Join(workspaces, ","))
}
