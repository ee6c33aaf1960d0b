package sqlruns

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// scanJSON reads a row that is kept as JSON.
func scanJSON[T any](r *sql.Rows) (found T, err error) {
	var body []byte
	if err := r.Scan(&body); err != nil {
		return found, err
	}
	if err := json.Unmarshal(body, &found); err != nil {
		return found, fault.Wrap(err, fault.StoreCorrupt, "a pool or an agent in the store is damaged")
	}
	return found, nil
}

// first is the one that was found, or the error that there is none.
func first[T any](all []T, err, none error) (found T, _ error) {
	switch {
	case err != nil:
		return found, err
	case len(all) == 0:
		return found, none
	}
	return all[0], nil
}

const poolsOf = "SELECT body FROM run_pools WHERE org = ? ORDER BY name"

// UpdatePool implements runs.Store.
func (s *Store) UpdatePool(ctx context.Context, org uuid.UUID,
	decide func([]runs.Pool) (runs.Pool, error)) (kept runs.Pool, err error) {
	err = s.write(ctx, runs.Ref{Org: org}, 0, func(t tx) error {
		have, err := sqldb.All(t, scanJSON[runs.Pool], poolsOf, t.org)
		if err != nil {
			return err
		}
		if kept, err = decide(have); err != nil {
			return refusal{err}
		}
		return t.putPool(kept)
	})
	if err != nil {
		return runs.Pool{}, err
	}
	return kept, nil
}

func (t tx) putPool(pool runs.Pool) error {
	if pool.Org.String() != t.org {
		return fmt.Errorf("sqlruns: pool %s is of another organization", pool.Name)
	}
	body, err := json.Marshal(pool)
	if err != nil {
		return err
	}
	return t.exec(t.Dialect().Upsert("run_pools", []string{"org", "name"}, []string{"token_hash", "body"}), t.org,
		pool.Name, pool.TokenHash, body)
}

// Pools implements runs.Store.
func (s *Store) Pools(ctx context.Context, org uuid.UUID) ([]runs.Pool, error) {
	return ask(ctx, s, org, scanJSON[runs.Pool], poolsOf, org.String())
}

// PoolsNamed implements runs.Store.
func (s *Store) PoolsNamed(ctx context.Context, name string, orgs []uuid.UUID) ([]runs.Pool, error) {
	if len(orgs) == 0 {
		return nil, nil
	}
	where, args := among(orgs)
	return ask(ctx, s, uuid.Nil, scanJSON[runs.Pool], "SELECT body FROM run_pools WHERE "+where+
		" AND name = ? ORDER BY org", append(args, name)...)
}

// among selects rows of organizations.
func among(orgs []uuid.UUID) (where string, args []any) {
	for _, org := range orgs {
		args = append(args, org.String())
	}
	return "org IN (" + sqldb.Places(len(orgs)) + ")", args
}

// PoolByToken implements runs.Store.
func (s *Store) PoolByToken(ctx context.Context, hash []byte) (runs.Pool, error) {
	none := fault.New(fault.CredentialsWrong, "this is no pool's token")
	if len(hash) == 0 {
		return runs.Pool{}, none
	}
	found, err := ask(ctx, s, uuid.Nil, scanJSON[runs.Pool], "SELECT body FROM run_pools WHERE token_hash = ?", hash)
	return first(found, err, none)
}

// RemovePool implements runs.Store.
func (s *Store) RemovePool(ctx context.Context, org uuid.UUID, name string) error {
	return s.write(ctx, runs.Ref{Org: org}, 0, func(t tx) error {
		for _, query := range []string{
			"DELETE FROM run_pools WHERE org = ? AND name = ?",
			"DELETE FROM run_agents WHERE org = ? AND pool = ?",
			"DELETE FROM run_turns WHERE org = ? AND pool = ?",
		} {
			if err := t.exec(query, t.org, name); err != nil {
				return err
			}
		}
		return nil
	})
}

// PutAgent implements runs.Store. Its fault, where another organization has an agent of this
// ID: AgentNotFound.
func (s *Store) PutAgent(ctx context.Context, agent runs.Agent) error {
	body, err := json.Marshal(agent)
	if err != nil {
		return err
	}
	return s.write(ctx, runs.Ref{Org: agent.Org}, 0, func(t tx) error {
		found, err := sqldb.Change(t, "UPDATE run_agents SET pool = ?, seen = ?, body = ? WHERE id = ? AND org = ?",
			agent.Pool, agent.Seen.UnixMicro(), body, agent.ID, t.org)
		if err != nil || found {
			return err
		}
		inserted, err := sqldb.Insert(t, "INSERT INTO run_agents (id, org, pool, seen, body) VALUES (?, ?, ?, ?, ?)",
			agent.ID, t.org, agent.Pool, agent.Seen.UnixMicro(), body)
		if err == nil && !inserted {
			return noAgent()
		}
		return err
	})
}

func noAgent() error { return fault.New(fault.AgentNotFound, "there is no such agent") }

// AgentByID implements runs.Store.
func (s *Store) AgentByID(ctx context.Context, id string) (runs.Agent, error) {
	found, err := ask(ctx, s, uuid.Nil, scanJSON[runs.Agent], "SELECT body FROM run_agents WHERE id = ?", id)
	return first(found, err, noAgent())
}

// AgentsOf implements runs.Store.
func (s *Store) AgentsOf(ctx context.Context, org uuid.UUID) ([]runs.Agent, error) {
	return ask(ctx, s, org, scanJSON[runs.Agent], "SELECT body FROM run_agents WHERE org = ? ORDER BY pool, id",
		org.String())
}

// RemoveAgents implements runs.Store.
func (s *Store) RemoveAgents(ctx context.Context, before time.Time) error {
	const idle = "seen < ? AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.org = run_agents.org AND runs.agent = " +
		"run_agents.id)"
	seen := before.UnixMicro()
	found, err := ask(ctx, s, uuid.Nil, scanRef, "SELECT org, id FROM run_agents WHERE "+idle, seen)
	for _, ref := range found {
		err = s.write(ctx, ref, 0, func(t tx) error {
			return t.exec("DELETE FROM run_agents WHERE org = ? AND id = ? AND "+idle, t.org, ref.ID, seen)
		})
		if err != nil {
			return err
		}
	}
	return err
}
