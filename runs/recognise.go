package runs

import (
	"context"
	"crypto/subtle"
	"strings"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// secretLength is that of the secrets of pools and agents, with their first letters.
const secretLength = 4 + 43

// isSecret reports whether a text can be such a secret: of what can't, no store is asked.
func isSecret(text, prefix string) bool {
	return len(text) == secretLength && strings.HasPrefix(text, prefix)
}

// PoolCaller returns who calls with a pool's token: its organization, which may do nothing but
// Register by it. Its fault: CredentialsWrong.
func (s *Service) PoolCaller(ctx context.Context, token string) (auth.Principal, error) {
	if !isSecret(token, PoolTokenPrefix) {
		return auth.Principal{}, fault.New(fault.CredentialsWrong, "this is not the token of a pool of agents")
	}
	pool, err := s.Store.PoolByToken(ctx, hashOf(token))
	if err != nil {
		return auth.Principal{}, err
	}
	return auth.Principal{Org: pool.Org, KeyID: "pool." + pool.Name}, nil
}

// AgentCaller returns which agent calls with a secret: its organization, which may do nothing but
// Claim by it. Its fault: CredentialsWrong, with the organization of the agent that it isn't.
func (s *Service) AgentCaller(ctx context.Context, id, secret string) (auth.Principal, error) {
	agent, err := s.agent(ctx, id, secret)
	if err != nil {
		return auth.Principal{Org: agent.Org}, err
	}
	return auth.Principal{Org: agent.Org, KeyID: "agent." + agent.ID}, nil
}

// agent returns the one whose secret this is.
func (s *Service) agent(ctx context.Context, id, secret string) (Agent, error) {
	wrong := fault.New(fault.CredentialsWrong,
		"there is no such agent, or this is not its secret: register it again with its pool's token")
	if !isSecret(secret, AgentSecretPrefix) {
		return Agent{}, wrong
	}
	agent, err := s.Store.AgentByID(ctx, id)
	if fault.Is(err, fault.AgentNotFound) || err == nil &&
		subtle.ConstantTimeCompare(agent.SecretHash, hashOf(secret)) != 1 {
		return Agent{Org: agent.Org}, wrong
	}
	return agent, err
}
