package states

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// shortLocks is a policy by which locks without a sign of life are taken over.
type shortLocks struct{ state.DefaultPolicies }

func (shortLocks) Policy(uuid.UUID, string) state.Policy {
	return state.Policy{LockTTL: 5 * time.Minute}
}

// TestLockOfAnotherClock: a lock that was just taken is old by the clock of no other node, however far ahead that
// is.
func TestLockOfAnotherClock(t *testing.T) { onEach(t, testLockOfAnotherClock) }

func testLockOfAnotherClock(t *testing.T, on kind) {
	d, org := on.new(t), uuid.New()
	node := func(ahead time.Duration) *state.Service {
		o := d.options()
		o.Now = func() time.Time { return time.Now().Add(ahead) }
		s := open(t, o)
		return state.NewService(s, shortLocks{}, s.Time, slog.New(slog.DiscardHandler))
	}
	behind, right, ahead := node(-10*time.Minute), node(0), node(10*time.Minute)
	p := auth.Principal{Org: org, KeyID: "ann", Grant: auth.Grant{Role: auth.Owner}}
	for name, holder := range map[state.Name]*state.Service{"behind": behind, "right": right, "ahead": ahead} {
		if _, err := holder.Lock(t.Context(), p, name, state.LockInfo{ID: "a", Raw: []byte(`{"ID":"a"}`)}); err != nil {
			t.Fatal(err)
		}
		for _, other := range []*state.Service{behind, right, ahead} {
			_, err := other.Lock(t.Context(), p, name, state.LockInfo{ID: "b", Raw: []byte(`{"ID":"b"}`)})
			if !fault.Is(err, fault.LockHeld) {
				t.Errorf("a lock by the node that is %s was taken over: %v", name, err)
			}
		}
	}
}

func TestClockIsSet(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	c := clock{own: func() time.Time { return at }}
	for _, step := range []struct{ server, moved, off time.Duration }{
		{300 * time.Millisecond, 0, 0},
		{time.Minute, time.Minute, time.Minute},
		{time.Minute + 300*time.Millisecond, 0, time.Minute},
		{-time.Hour, -time.Hour - time.Minute, -time.Hour},
		{0, time.Hour, 0},
	} {
		moved := c.compare(at.Add(step.server), at.Add(-time.Millisecond), at.Add(time.Millisecond))
		if moved != step.moved || c.time() != at.Add(step.off) {
			t.Errorf("%v: moved %v to %v", step.server, moved, c.time())
		}
	}
}
