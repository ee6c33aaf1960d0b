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
