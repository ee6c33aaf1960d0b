package runstest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/runs"
)

func hash(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

func putPool(t *testing.T, store runs.Store, pool runs.Pool) runs.Pool {
	t.Helper()
	kept := must[runs.Pool](t,
		"UpdatePool")(store.UpdatePool(t.Context(), pool.Org, func([]runs.Pool) (runs.Pool, error) { return pool, nil }))
	suite.Equal(t, "UpdatePool", pool, kept)
	got := must[runs.Pool](t, "PoolByToken")(store.PoolByToken(t.Context(), pool.TokenHash))
	suite.Equal(t, "PoolByToken", pool, got)
	return pool
}

func wantPools(t *testing.T, store runs.Store, org uuid.UUID, want ...runs.Pool) {
	t.Helper()
	got := must[[]runs.Pool](t, "Pools")(store.Pools(t.Context(), org))
	slices.SortFunc(got, func(a, b runs.Pool) int { return cmp.Compare(a.Name, b.Name) })
	suite.Equal(t, "Pools", want, got)
}

func checkPools(t *testing.T, store runs.Store) {
	m, n := newMaker(), newMaker()
	token := func(name string) []byte { return hash(name + m.org.String()) }
	eu := putPool(t, store, runs.Pool{Org: m.org, Name: "eu", Workspaces: []string{"prod/*", "ü"}, TokenHash: token("eu"),
		CreatedAt: moment()})
	us := putPool(t, store, runs.Pool{Org: m.org, Name: "us", TokenHash: token("us"), CreatedAt: later(1)})
	theirs := putPool(t, store, runs.Pool{Org: n.org, Name: "eu", TokenHash: token("theirs"), CreatedAt: moment()})
	wantPools(t, store, m.org, eu, us)
	checkLentPools(t, store, eu, us, theirs)

	old := eu.TokenHash
	eu.TokenHash, eu.Workspaces = token("new"), []string{"dev"}
	putPool(t, store, eu)
	wantPools(t, store, m.org, eu, us)
	for _, wrong := range [][]byte{old, nil, {}, token("none"), bytes.ToUpper(eu.TokenHash)[:31]} {
		_, err := store.PoolByToken(t.Context(), wrong)
		suite.Fault(t, "PoolByToken", err, fault.CredentialsWrong)
	}

	agent := runs.Agent{Org: m.org, ID: "agent-" + m.org.String(), Pool: "eu", SecretHash: hash("s"), CreatedAt: moment(),
		Seen: moment()}
	other := runs.Agent{Org: n.org, ID: "agent-" + n.org.String(), Pool: "eu", SecretHash: hash("s"), CreatedAt: moment(),
		Seen: moment()}
	putAgent(t, store, agent)
	putAgent(t, store, other)
	for range 2 {
		if err := store.RemovePool(t.Context(), m.org, "eu"); err != nil {
			t.Fatalf("RemovePool: %v", err)
		}
		_, err := store.PoolByToken(t.Context(), eu.TokenHash)
		suite.Fault(t, "PoolByToken", err, fault.CredentialsWrong)
		_, err = store.AgentByID(t.Context(), agent.ID)
		suite.Fault(t, "AgentByID", err, fault.AgentNotFound)
		wantPools(t, store, m.org, us)
		wantPools(t, store, n.org, theirs)
		wantAgents(t, store, n.org, other)
	}
}

// checkLentPools finds pools by their name, and decides about them one after the other.
func checkLentPools(t *testing.T, store runs.Store, eu, us, theirs runs.Pool) {
	t.Helper()
	none := uuid.New()
	named := func(name string, orgs ...uuid.UUID) []runs.Pool {
		t.Helper()
		got := must[[]runs.Pool](t, "PoolsNamed")(store.PoolsNamed(t.Context(), name, orgs))
		slices.SortFunc(got, func(a, b runs.Pool) int { return a.CreatedAt.Compare(b.CreatedAt) })
		return got
	}
	suite.Equal(t, "PoolsNamed", []runs.Pool{us}, named("us", us.Org, theirs.Org, none))
	suite.Equal(t, "PoolsNamed", []runs.Pool{theirs}, named("eu", theirs.Org))
	suite.Equal(t, "PoolsNamed", 2, len(named("eu", us.Org, theirs.Org)))
	suite.Equal(t, "PoolsNamed of nobody", []runs.Pool(nil), named("eu"))

	refused := errors.New("refused")
	_, err := store.UpdatePool(t.Context(), eu.Org, func(have []runs.Pool) (runs.Pool, error) {
		suite.Equal(t, "what UpdatePool decides on", []runs.Pool{eu, us}, have)
		have[0].Workspaces = []string{"none"}
		return have[0], refused
	})
	if !errors.Is(err, refused) {
		t.Errorf("UpdatePool: %v", err)
	}
	wantPools(t, store, eu.Org, eu, us)
	together(8, func(int) {
		_, err := store.UpdatePool(background(), us.Org, func(have []runs.Pool) (runs.Pool, error) {
			next := have[1]
			next.Grants = append(next.Grants, runs.PoolGrant{Org: uuid.New(), Workspaces: []string{"x"}, At: moment()})
			return next, nil
		})
		if err != nil {
			t.Errorf("UpdatePool: %v", err)
		}
	})
	if n := len(named("us", us.Org)[0].Grants); n != 8 {
		t.Errorf("%d grants of 8 are kept", n)
	}
	putPool(t, store, us)
	checkEndGrants(t, store, eu, us)
}

// checkEndGrants ends what lends pools to an organization, in pieces, and leaves what lends them to
// another one, and what that organization has itself.
func checkEndGrants(t *testing.T, store runs.Store, eu, us runs.Pool) {
	t.Helper()
	gone, stays := uuid.New(), uuid.New()
	own := putPool(t, store, runs.Pool{Org: gone, Name: "own", TokenHash: []byte("own"), CreatedAt: moment()})
	lend := func(pool runs.Pool, grants ...uuid.UUID) runs.Pool {
		for _, org := range grants {
			pool.Grants = append(slices.Clone(pool.Grants), runs.PoolGrant{Org: org, At: moment()})
		}
		return pool
	}
	former := lend(us, stays)
	former.Former = []uuid.UUID{gone, stays}
	putPool(t, store, lend(eu, stays, gone))
	putPool(t, store, former)
	for _, want := range []int{1, 1, 0} {
		if n, err := store.EndGrants(t.Context(), gone, 1); n != want || err != nil {
			t.Errorf("EndGrants ended %d, %v; want %d", n, err, want)
		}
	}
	left := lend(us, stays)
	left.Former = []uuid.UUID{stays}
	for name, want := range map[string]runs.Pool{eu.Name: lend(eu, stays), us.Name: left} {
		got := must[[]runs.Pool](t, "PoolsNamed")(store.PoolsNamed(t.Context(), name, []uuid.UUID{want.Org}))
		if len(got) != 1 || len(got[0].Grants) != 1 || got[0].Grants[0].Org != stays ||
			slices.Contains(got[0].Former, gone) ||
			len(got[0].Former) != len(want.Former) || !slices.Equal(got[0].TokenHash, want.TokenHash) {
			t.Errorf("%s is lent to %+v, was to %v", name, got, want.Former)
		}
	}
	wantPools(t, store, gone, own)
	for _, pool := range []runs.Pool{eu, us} {
		putPool(t, store, pool)
	}
	if err := store.RemovePool(t.Context(), gone, own.Name); err != nil {
		t.Error(err)
	}
}

func putAgent(t *testing.T, store runs.Store, agent runs.Agent) {
	t.Helper()
	if err := store.PutAgent(t.Context(), agent); err != nil {
		t.Fatalf("PutAgent: %v", err)
	}
	suite.Equal(t, "AgentByID", agent, must[runs.Agent](t, "AgentByID")(store.AgentByID(t.Context(), agent.ID)))
}

func wantAgents(t *testing.T, store runs.Store, org uuid.UUID, want ...runs.Agent) {
	t.Helper()
	got := must[[]runs.Agent](t, "AgentsOf")(store.AgentsOf(t.Context(), org))
	slices.SortFunc(got, func(a, b runs.Agent) int { return cmp.Compare(a.ID, b.ID) })
	suite.Equal(t, "AgentsOf", want, got)
}

func checkAgents(t *testing.T, store runs.Store) {
	m, n := newMaker(), newMaker()
	one := runs.Agent{
		Org: m.org, ID: "1" + m.org.String(), Pool: "eu", Name: "näme", Version: "1", System: "linux_amd64",
		Sandbox: "landlock", BootID: "boot",
		SecretHash: hash("secret"), Draining: true, CreatedAt: moment(), Seen: later(1),
	}
	two := runs.Agent{Org: m.org, ID: "2" + m.org.String(), Pool: "us", SecretHash: hash("secret"), CreatedAt: moment(),
		Seen: moment()}
	putAgent(t, store, one)
	putAgent(t, store, two)
	wantAgents(t, store, m.org, one, two)
	wantAgents(t, store, n.org)
	one.Draining, one.Seen, one.Pool = false, later(2), "us"
	putAgent(t, store, one)
	wantAgents(t, store, m.org, one, two)

	stolen := one
	stolen.Org = n.org
	if err := store.PutAgent(t.Context(), stolen); err == nil {
		t.Error("an agent of another organization was overwritten")
	}
	wantAgents(t, store, m.org, one, two)
	for _, none := range []string{"", "none", one.ID + " ", "ü"} {
		_, err := store.AgentByID(t.Context(), none)
		suite.Fault(t, "AgentByID", err, fault.AgentNotFound)
	}
}

// checkAgentsLeave removes agents that nobody has seen for long, unless they have a run.
func checkAgentsLeave(t *testing.T, store runs.Store) {
	m := newMaker()
	agent := func(name string, seen time.Time) runs.Agent {
		a := runs.Agent{Org: m.org, ID: name + m.org.String(), Pool: "eu", SecretHash: hash(name), CreatedAt: moment(),
			Seen: seen}
		putAgent(t, store, a)
		return a
	}
	busy, fresh := agent("busy", later(-600000)), agent("fresh", later(-500000))
	agent("idle", later(-600000))
	run := m.pending(t, store, "w", runs.Plan)
	run = update(t, store, run.Ref(), edited(func(r *runs.Run) {
		r.Status, r.Executor, r.LeaseUntil = runs.Planning, &runs.Executor{Agent: busy.ID}, later(1)
	}))
	before := later(-500000)
	if err := store.RemoveAgents(t.Context(), before); err != nil {
		t.Fatalf("RemoveAgents: %v", err)
	}
	wantAgents(t, store, m.org, busy, fresh)
	move(t, store, run, runs.Failed)
	if err := store.RemoveAgents(t.Context(), before); err != nil {
		t.Fatalf("RemoveAgents: %v", err)
	}
	wantAgents(t, store, m.org, fresh)
}
