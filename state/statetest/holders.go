package statetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// checkOneHolder lets lockers and writers without a lock loose on one state. There is one
// holder at a time, and nobody else's write comes between the holder's.
func checkOneHolder(t *testing.T, store state.Store) {
	const lockers, intruders = 6, 2
	section := &section{arena: newArena(store)}
	section.lockers.Store(lockers)
	suite.Together(t, lockers+intruders, func(ctx context.Context, worker int) error {
		if worker >= lockers {
			return section.intrude(ctx, worker)
		}
		defer section.lockers.Add(-1)
		for turn := range 10 {
			if err := section.turn(ctx, worker, turn); err != nil {
				return fmt.Errorf("locker %d, turn %d: %w", worker, turn, err)
			}
		}
		return nil
	})
	if err := section.arena.verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// section is what the lock guards.
type section struct {
	arena   *arena
	inside  atomic.Int32 // holders, as they see it themselves
	lockers atomic.Int32 // that are still at it
}

// turn takes the lock, works and releases it.
func (s *section) turn(ctx context.Context, worker, turn int) error {
	id := fmt.Sprintf("%d-%d", worker, turn)
	if err := s.acquire(ctx, id); err != nil {
		return err
	}
	if n := s.inside.Add(1); n != 1 {
		return fmt.Errorf("%d callers hold the lock", n)
	}
	if err := s.work(ctx, id); err != nil {
		return err
	}
	s.inside.Add(-1)
	return s.arena.service.Unlock(ctx, s.arena.caller, s.arena.name, state.LockInfo{ID: id})
}

// acquire tries until the lock is free.
func (s *section) acquire(ctx context.Context, id string) error {
	a := s.arena
	info := state.LockInfo{ID: id, Who: id, Raw: lockRaw(id, id)}
	for ctx.Err() == nil {
		head, err := a.service.Lock(ctx, a.caller, a.name, info)
		if err == nil {
			if holder(head.Lock) != id {
				return fmt.Errorf("LOCK was granted, yet the holder is %q", holder(head.Lock))
			}
			return nil
		}
		if held, ok := errors.AsType[*state.HeldError](err); !ok || held.Holder.ID == id || held.Holder.ID == "" {
			return fmt.Errorf("LOCK: %w", err)
		}
	}
	return ctx.Err()
}

// work reads and writes; nobody else's version may come between.
func (s *section) work(ctx context.Context, id string) error {
	a := s.arena
	before, err := a.service.Get(ctx, a.caller, a.name)
	if err != nil && !fault.Is(err, fault.StateNotFound) {
		return err
	}
	for i := uint64(1); i <= 3; i++ {
		number, err := a.put(ctx, id, fmt.Sprint(id, " ", i))
		if err != nil {
			return err
		}
		if number != before.Number+i {
			return fmt.Errorf("write %d on version %d got the number %d: somebody else wrote", i, before.Number, number)
		}
	}
	lock, err := a.service.Holder(ctx, a.caller, a.name)
	if err == nil && holder(lock) != id {
		return fmt.Errorf("the holder %q finds %q instead", id, holder(lock))
	}
	return err
}

// intrude writes without a lock, and with one that holds nothing, for as long as there
// are lockers.
func (s *section) intrude(ctx context.Context, worker int) error {
	for i := 0; s.lockers.Load() > 0 && ctx.Err() == nil; i++ {
		_, err := s.arena.put(ctx, "", fmt.Sprint("intruder ", worker, " ", i))
		if err != nil && !fault.Is(err, fault.LockHeld) {
			return fmt.Errorf("a write without a lock: %w", err)
		}
		_, err = s.arena.put(ctx, "nobody's", "never")
		if !fault.Is(err, fault.LockHeld) && !fault.Is(err, fault.LockNotHeld) {
			return fmt.Errorf("a write with a lock that holds nothing: %w", err)
		}
	}
	return nil
}
