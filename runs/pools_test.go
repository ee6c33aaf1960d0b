package runs_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
)

// heard keeps what is recorded.
type heard struct{ all []audit.Event }

func (h *heard) Record(_ context.Context, e audit.Event) error {
	h.all = append(h.all, e)
	return nil
}

// recorded is a bench whose audit log can be read.
func recorded(t *testing.T) (*bench, *heard) {
	b := withWorkspaces(applying(t), &settled{now: runs.Workspace{Snapshot: "s"}})
	log := &heard{}
	d := b.Deps
	d.Audit, d.Gate, d.Limits.Working = log, audit.NewGate(log, b.Now), 20
	b.Service = runs.NewService(d)
	return b, log
}

func owner(org uuid.UUID) auth.Principal {
	return auth.Principal{Org: org, KeyID: "own", Grant: auth.Grant{Role: auth.Owner}}
}

// Who made itself known as an agent, and who was refused, is on record.
func TestRegistrationsAreOnRecord(t *testing.T) {
	b, log := recorded(t)
	_, token, err := b.CreatePool(t.Context(), owner(b.run.Org), "eu", nil)
	b.must(err)
	as, err := b.PoolCaller(t.Context(), token)
	b.must(err)
	agent, _, err := b.Register(t.Context(), as, token, api.AgentRegistration{Name: "host"})
	b.must(err)
	made := log.all[len(log.all)-1]
	if made.Action != audit.AgentRegister || made.Refused != "" || made.Org != b.run.Org ||
		made.Actor.KeyID != "pool.eu" || !strings.Contains(made.Note, agent.ID) {
		t.Errorf("on record is %+v", made)
	}
	if _, _, err := b.Register(t.Context(), as, token,
		api.AgentRegistration{Name: strings.Repeat("x", 256)}); !fault.Is(err, fault.RunInvalid) {
		t.Errorf("with a long name: %v", err)
	}
	refused := log.all[len(log.all)-1]
	if refused.Action != audit.AgentRegister || refused.Refused != fault.RunInvalid || refused.Actor.KeyID != "pool.eu" {
		t.Errorf("on record is %+v", refused)
	}
}

// To discard a run takes the right that the table of rights names.
func TestWhoMayDiscard(t *testing.T) {
	b, _ := recorded(t)
	p := auth.Principal{Org: b.run.Org, KeyID: "r", Grant: auth.Grant{Role: auth.Reader}}
	if _, err := b.Discard(t.Context(), p, b.run.ID, ""); !fault.Is(err, fault.RightMissing) ||
		!strings.Contains(err.Error(), string(auth.CancelRun)) {
		t.Errorf("a reader hears %v", err)
	}
}

// Who may see some workspaces only, and has the ID of a run of another one, isn't told which that is. The record has
// it.
func TestRefusalsNameNoOtherWorkspace(t *testing.T) {
	b, log := recorded(t)
	p := owner(b.run.Org)
	var err error
	p.States, err = auth.ParsePatterns("other/*")
	b.must(err)
	_, err = b.Get(t.Context(), p, b.run.ID)
	if !fault.Is(err, fault.RightMissing) || strings.Contains(err.Error(), `"`+b.run.Workspace+`"`) {
		t.Errorf("they are told %v", err)
	}
	if last := log.all[len(log.all)-1]; last.Action != audit.AccessRefused || last.State != b.run.Workspace {
		t.Errorf("on record is %+v", last)
	}
}

// The list of agents has the runs of each that the caller may see.
func TestAgentsShowTheirRuns(t *testing.T) {
	b, _ := recorded(t)
	fleet, err := b.Pools(t.Context(), owner(b.run.Org))
	b.must(err)
	if !slices.Equal(fleet.Runs["x"], []string{b.run.ID}) {
		t.Errorf("the agent has %v", fleet.Runs)
	}
	other := owner(b.run.Org)
	other.States, err = auth.ParsePatterns("other/*")
	b.must(err)
	if fleet, err = b.Pools(t.Context(), other); err != nil || len(fleet.Runs) > 0 {
		t.Errorf("for others the agent has %v, %v", fleet.Runs, err)
	}
}

// A pool's token is good for the runs of all workspaces that the pool serves. So a key for some workspaces has to do
// with pools of these alone.
func TestKeysForSomeWorkspacesHaveToDoWithTheirPoolsAlone(t *testing.T) {
	b, log := recorded(t)
	ctx, all, some := t.Context(), owner(b.run.Org), owner(b.run.Org)
	states, err := auth.ParsePatterns("dev/*")
	b.must(err)
	some.States = states
	for name, serves := range map[string][]string{"any": nil, "prod": {"prod/*"}, "both": {"dev/*", "prod/*"}} {
		_, _, err := b.CreatePool(ctx, some, "own-"+name, serves)
		wantNoPool(t, "create "+name, err)
		_, _, err = b.CreatePool(ctx, all, name, serves)
		b.must(err)
		_, _, err = b.RotatePool(ctx, some, name)
		wantNoPool(t, "rotate "+name, err)
		_, err = b.ConfigurePool(ctx, some, name, []string{"dev/*"})
		wantNoPool(t, "take "+name, err)
		_, err = b.GrantPool(ctx, some, name, uuid.New(), nil)
		wantNoPool(t, "lend "+name, err)
		wantNoPool(t, "remove "+name, b.RemovePool(ctx, some, name))
	}
	if last := log.all[len(log.all)-1]; last.Action != audit.AccessRefused || last.Actor.KeyID != "own" {
		t.Errorf("on record is %+v", last)
	}
	_, token, err := b.CreatePool(ctx, some, "dev", []string{"dev/*"})
	b.must(err)
	if _, err := b.PoolCaller(ctx, token); err != nil {
		t.Errorf("the token of its own pool: %v", err)
	}
	_, err = b.ConfigurePool(ctx, some, "dev", nil)
	wantNoPool(t, "have its own pool serve all", err)
	_, err = b.ConfigurePool(ctx, some, "dev", []string{"dev/a"})
	b.must(err)
	_, _, err = b.RotatePool(ctx, some, "dev")
	b.must(err)
	b.must(b.RemovePool(ctx, some, "dev"))
	fleet, err := b.Pools(ctx, all)
	if b.must(err); len(fleet.Pools) != 3 {
		t.Errorf("there are %d pools, want the three of others", len(fleet.Pools))
	}
}

func wantNoPool(t *testing.T, what string, err error) {
	t.Helper()
	if !fault.Is(err, fault.RightMissing) {
		t.Errorf("%s: %v, want it refused", what, err)
	}
}
