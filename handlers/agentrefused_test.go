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
}

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
	for _, call := range []struct{ path, bearer string }{
		{"", "hfp_" + strings.Repeat("A", 43)},
		{"", "nothing"},
		{"/" + agent.ID + "/claim", "hfa_" + strings.Repeat("A", 43)},
		{"/absent/claim", secret},
	} {
		r, err := http.NewRequest(http.MethodPost, server.URL+"/api/v1/agents"+call.path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+call.bearer)
		answer, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if _ = answer.Body.Close(); answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %s", call.path, answer.Status)
		}
	}
	if !slices.Equal(verifier.told, []uuid.UUID{uuid.Nil, uuid.Nil, acme, uuid.Nil}) {
		t.Errorf("told was %v", verifier.told)
	}
}
