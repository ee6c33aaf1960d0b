package runs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/internal/runworld"
	"github.com/holdfast/holdfast/runs"
)

// A run that nobody will ever execute says so.
func TestWaitingRunSaysForWhom(t *testing.T) {
	w := runworld.New(t)
	p := auth.Principal{Org: uuid.New(), KeyID: "k1", Grant: auth.Grant{Role: auth.Owner}}
	if _, _, err := w.CreatePool(t.Context(), p, "eu", []string{"eu/*"}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ pool, workspace, says string }{
		{"", "eu/network", "waits for an executor"},
		{"eu", "eu/network", "waits for an agent of the pool eu, which has none: `holdfast agent` with the " +
			"pool's token starts one"},
		{"eu", "us/network", "waits for an agent of the pool eu, which does not serve this workspace"},
		{"us", "us/network", "waits for an agent of the pool us, which there is not"},
	} {
		for _, kind := range []string{"plan", "apply"} {
			w.Pool = test.pool
			made, err := w.Create(t.Context(), p, api.RunOrder{Workspace: test.workspace, Kind: kind}, "")
			if err != nil {
				t.Fatal(err)
			}
			run, err := w.Get(t.Context(), p, made.ID)
			if got, _, _ := strings.Cut(run.Reason, ";"); err != nil || got != test.says {
				t.Errorf("a %s of %s in the pool %q says %q, %v; want %q", kind, test.workspace, test.pool, run.Reason, err,
					test.says)
			}
		}
	}
}

// So does one of an organization whose runs the server doesn't execute, and how to change that.
func TestWaitingRunSaysThatThereIsNoExecutor(t *testing.T) {
	w := runworld.New(t)
	w.Executes = func(uuid.UUID) bool { return false }
	p := auth.Principal{Org: uuid.New(), KeyID: "k1", Grant: auth.Grant{Role: auth.Owner}}
	made, err := w.Create(t.Context(), p, api.RunOrder{Workspace: "a", Kind: "plan"}, "")
	if err != nil {
		t.Fatal(err)
	}
	run, err := w.Get(t.Context(), p, made.ID)
	if err != nil || !strings.Contains(run.Reason, "which there is not") || !strings.Contains(run.Reason, "runs_local") ||
		!strings.Contains(run.Reason, "holdfast pool create") {
		t.Errorf("it says %q, %v", run.Reason, err)
	}
}

// So does one of a pool whose agents are gone, for as long as they are.
func TestWaitingRunSaysThatNoAgentIsAlive(t *testing.T) {
	w := runworld.New(t)
	p := auth.Principal{Org: uuid.New(), KeyID: "k1", Grant: auth.Grant{Role: auth.Owner}}
	_, token, err := w.CreatePool(t.Context(), p, "eu", nil)
	if err != nil {
		t.Fatal(err)
	}
	agent, secret, err := w.Register(t.Context(), p, token, api.AgentRegistration{Name: "one"})
	if err != nil {
		t.Fatal(err)
	}
	w.Pool = "eu"
	made, err := w.Create(t.Context(), p, api.RunOrder{Workspace: "a", Kind: "plan"}, "")
	if err != nil {
		t.Fatal(err)
	}
	says := func(want string) {
		t.Helper()
		if run, err := w.Get(t.Context(), p, made.ID); err != nil || !strings.HasPrefix(run.Reason, want) {
			t.Errorf("it says %q, %v; want %q", run.Reason, err, want)
		}
	}
	alive := "waits for an agent of the pool eu"
	if run, err := w.Get(t.Context(), p, made.ID); err != nil || run.Reason != alive {
		t.Errorf("it says %q, %v", run.Reason, err)
	}
	w.Jump(runs.AgentSilence + time.Second)
	says(alive + ", none of which has asked for work since ")
	if why, err := w.Nobody(t.Context(), made); err != nil || !strings.HasPrefix(why, alive+", none of which") {
		t.Errorf("its layer says %q, %v", why, err)
	}
	if _, err := w.WorkerOf(t.Context(), agent.ID, secret, api.AgentClaim{}); err != nil {
		t.Fatal(err)
	}
	if run, err := w.Get(t.Context(), p, made.ID); err != nil || run.Reason != alive {
		t.Errorf("it says %q, %v", run.Reason, err)
	}
	if _, err := w.WorkerOf(t.Context(), agent.ID, secret, api.AgentClaim{Draining: true}); err != nil {
		t.Fatal(err)
	}
	says(alive + ", which has none")
}
