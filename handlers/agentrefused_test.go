package handlers_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/internal/runworld"
)

// refusing is a verifier that is told of wrong secrets.
type refusing struct {
	keys
	told []uuid.UUID
	gone bool // no organization is in force
}

// InForce implements middleware.Refuser.
func (r *refusing) InForce(uuid.UUID) bool { return !r.gone }

// RefuseSecret implements middleware.Refuser.
func (r *refusing) RefuseSecret(_ context.Context, err error, org uuid.UUID, _ auth.Client) error {
	r.told = append(r.told, org)
	return err
}

// TestWrongSecretsAreTold: the verifier, which counts failed logins, is told of wrong tokens of pools and wrong secrets
// of agents, and whose agent it would have been.
func TestWrongSecretsAreTold(t *testing.T) {
	deps, _, _ := testDepsWithoutResources(t)
	world, verifier := runworld.New(t), &refusing{keys: testKeys()}
	deps.Runs, deps.Verifier = world.Service, verifier
	server := startServer(t, deps)
	_, token, err := world.CreatePool(t.Context(), owner, "eu", nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := world.PoolCaller(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	agent, secret, err := world.Register(t.Context(), p, token, api.AgentRegistration{Name: "host"})
	if err != nil {
		t.Fatal(err)
	}
	call := func(path, bearer string) int {
		r, err := http.NewRequest(http.MethodPost, server.URL+"/api/v1/agents"+path,
			strings.NewReader(`{"key":"k","boot_id":"","sandbox":"none"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+bearer)
		answer, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer.StatusCode
	}
	for _, c := range []struct{ path, bearer string }{
		{"", "hfp_" + strings.Repeat("A", 43)},
		{"", "nothing"},
		{"/" + agent.ID + "/claim", "hfa_" + strings.Repeat("A", 43)},
		{"/absent/claim", secret},
	} {
		if status := call(c.path, c.bearer); status != http.StatusUnauthorized {
			t.Errorf("%s: %d", c.path, status)
		}
	}
	if !slices.Equal(verifier.told, []uuid.UUID{uuid.Nil, uuid.Nil, acme, uuid.Nil}) {
		t.Errorf("told was %v", verifier.told)
	}
	if status := call("/"+agent.ID+"/claim", secret); status != http.StatusNoContent {
		t.Errorf("an agent with nothing to do: %d", status)
	}
	verifier.gone = true // nobody gets in for an organization that was removed
	for path, bearer := range map[string]string{"": token, "/" + agent.ID + "/claim": secret} {
		if status := call(path, bearer); status != http.StatusUnauthorized {
			t.Errorf("%s of a removed organization: %d", path, status)
		}
	}
}
