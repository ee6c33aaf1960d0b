package runs_test

import (
	"fmt"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
)

// TestPoolsLeaveEachOtherAgents: who has the token of one pool can't use up the agents that the organization may have.
func TestPoolsLeaveEachOtherAgents(t *testing.T) {
	suite.Deep(t)
	b, _ := recorded(t)
	register := func(token string, times int) (made int, err error) {
		as, err := b.PoolCaller(t.Context(), token)
		b.must(err)
		for made = range times {
			if _, _, err = b.Register(t.Context(), as, token, api.AgentRegistration{Name: fmt.Sprint(made)}); err != nil {
				return made, err
			}
		}
		return times, nil
	}
	_, stolen, err := b.CreatePool(t.Context(), owner(b.run.Org), "eu", nil)
	b.must(err)
	_, other, err := b.CreatePool(t.Context(), owner(b.run.Org), "us", nil)
	b.must(err)
	if made, err := register(stolen, 501); !fault.Is(err, fault.RunsFull) || made != 500 {
		t.Errorf("a pool has %d agents, and then %v", made, err)
	}
	if _, err := register(other, 1); err != nil {
		t.Errorf("the other pool gets none: %v", err)
	}
}
