package main

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/quota"
	"github.com/holdfast/holdfast/state"
)

// filling starts a server that has no more room for anybody once full is true: by their
// quota, or by the disk's reserve. It returns the server's store.
func (s *shell) filling(policy state.Policy, byQuota bool, full *bool) (store state.Store) {
	s.keepingWithin(policy, func(made state.Store) *quota.Keeper {
		store = made
		now := time.Now()
		return quota.New(quota.Options{
			Sources: []quota.Source{{Kind: quota.States, Store: store}},
			Limit: func(uuid.UUID) int64 {
				if *full && byQuota {
					return 1
				}
				return quota.None
			},
			Free: func() (int64, error) {
				if *full && !byQuota {
					return 0, nil
				}
				return 1 << 40, nil
			},
			Reserve: 1 << 20, Overdraft: 1 << 20,
			Now: func() time.Time { now = now.Add(time.Second); return now }, // so that the disk is looked at again
			Log: slog.New(slog.DiscardHandler),
		})
	})
	return store
}

// Where a lock is refused for want of room, a state is deleted without one: but not under
// somebody else's.
func TestStateIsDeletedWithoutRoomForALock(t *testing.T) {
	for code, byQuota := range map[string]bool{"quota_exceeded": true, "store_full": false} {
		t.Run(code, func(t *testing.T) {
			s, full := newShell(t), false
			store := s.filling(state.DefaultPolicy(), byQuota, &full)
			s.push("app", network(1, "small"))
			s.push("held", network(1, "small"))
			lock := state.Lock{Info: state.LockInfo{ID: "theirs", Who: "bob@desk",
				Raw: []byte(`{"ID":"theirs","Who":"bob@desk"}`)}}
			_, err := store.Update(t.Context(), state.Ref{Org: acme, Name: "held"}, nil, func(state.Head) (state.Change, error) {
				return state.Change{Lock: &lock}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			full = true
			s.refuse(exitFailed, "507 "+code, "state", "push", "app", s.write("more.tfstate", network(2, "small")), "--force")
			has(t, s.must("state", "rm", "app", "--yes"), "Deleted app.")
			s.refuse(exitFailed, "bob@desk", "state", "rm", "held", "--yes")
			if out := s.must("lock", "list"); strings.Contains(out, "app") || !strings.Contains(out, "held") {
				t.Errorf("locks:\n%s", out)
			}
		})
	}
}

// Where the lock is required, it can't be deleted so, and the reason is told.
func TestStateIsNotDeletedWithoutTheLockThatIsRequired(t *testing.T) {
	s, full, policy := newShell(t), false, state.DefaultPolicy()
	policy.RequireLock = true
	s.filling(policy, true, &full)
	s.push("app", network(1, "small"))
	full = true
	s.refuse(exitFailed, "507 quota_exceeded", "state", "rm", "app", "--yes")
	full = false
	has(t, s.must("state", "rm", "app", "--yes"), "Deleted app.")
}
