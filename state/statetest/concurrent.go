package statetest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// arena is one state that many callers want at once, and what they were told.
type arena struct {
	store   state.Store
	service *state.Service
	caller  auth.Principal
	name    state.Name

	mu    sync.Mutex
	acked map[uint64]state.Digest // accepted writes by number
}

func newArena(store state.Store) *arena {
	return &arena{
		store: store, service: newService(store), name: "arena",
		caller: auth.Principal{Org: uuid.New(), KeyID: "key", Grant: auth.Grant{Role: auth.Owner}},
		acked:  map[uint64]state.Digest{},
	}
}

// put writes a body that nobody else writes, and takes down the number it got.
func (a *arena) put(ctx context.Context, lockID, unique string) (uint64, error) {
	body := stateBody(1, unique)
	v, err := a.service.Put(ctx, a.caller, a.name, state.Write{Body: body, LockID: lockID})
	if err != nil {
		return 0, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, taken := a.acked[v.Number]; taken {
		return 0, fmt.Errorf("the number %d was given to two writes", v.Number)
	}
	a.acked[v.Number] = sha256.Sum256(body)
	return v.Number, nil
}

// verify reads everything that was acknowledged: numbers from 1 on without a gap, each
// with its bytes, and nothing beyond.
func (a *arena) verify(ctx context.Context) error {
	ref := state.Ref{Org: a.caller.Org, Name: a.name}
	head, err := a.store.Head(ctx, ref)
	if err != nil {
		return err
	}
	if head.Version.Number != uint64(len(a.acked)) {
		return fmt.Errorf("%d writes were acknowledged, the newest has the number %d", len(a.acked), head.Version.Number)
	}
	for number := uint64(1); number <= head.Version.Number; number++ {
		got, err := a.store.Version(ctx, ref, number)
		if err != nil {
			return fmt.Errorf("version %d of %d: %w", number, head.Version.Number, err)
		}
		if digest := sha256.Sum256(got.Body); digest != a.acked[number] || digest != got.Digest {
			return fmt.Errorf("version %d has other bytes than the write that was told so", number)
		}
	}
	return nil
}

// checkManyWriters has many callers write one state, all without a lock.
func checkManyWriters(t *testing.T, store state.Store) {
	a := newArena(store)
	suite.Together(t, 8, func(ctx context.Context, worker int) error {
		last := uint64(0)
		for i := range 40 {
			number, err := a.put(ctx, "", fmt.Sprint(worker, " ", i))
			if err != nil {
				return err
			}
			if number <= last {
				return fmt.Errorf("worker %d got the number %d after %d", worker, number, last)
			}
			last = number
		}
		return nil
	})
	if err := a.verify(t.Context()); err != nil {
		t.Error(err)
	}
}
