package turns

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

func acquire(t *testing.T, turns *Turns, org uuid.UUID) (release func()) {
	t.Helper()
	release, err := turns.Acquire(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

// One organization leaves a place to others, however much it asks for.
func TestShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, greedy, other := New(3, 2), uuid.New(), uuid.New()
		first, second := acquire(t, turns, greedy), acquire(t, turns, greedy)
		got := make(chan func())
		go func() { got <- acquire(t, turns, greedy) }()
		synctest.Wait()
		acquire(t, turns, other)()
		select {
		case <-got:
			t.Fatal("a third place for one organization")
		default:
		}
		first()
		first() // does nothing
		third := <-got
		second()
		third()
		if turns.free != 3 || len(turns.held) != 0 || !turns.waiting.Empty() {
			t.Errorf("left behind: %+v", turns)
		}
	})
}

// Organizations take turns, whatever each has waiting.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, greedy, other := New(1, 1), uuid.New(), uuid.New()
		release := acquire(t, turns, greedy)
		var mu sync.Mutex
		var served []uuid.UUID
		ask := func(org uuid.UUID) {
			go func() {
				release := acquire(t, turns, org)
				mu.Lock()
				served = append(served, org)
				mu.Unlock()
				release()
			}()
			synctest.Wait()
		}
		for range 5 {
			ask(greedy)
		}
		ask(other)
		release()
		synctest.Wait()
		if len(served) != 6 || served[0] != greedy || served[1] != other {
			t.Errorf("served %v; want one of %v, then %v", served, greedy, other)
		}
	})
}

// Who stops waiting, or has waited long enough, leaves nothing behind.
func TestAbandon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, org := New(1, 1), uuid.New()
		release := acquire(t, turns, org)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := turns.Acquire(ctx, org); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after its context ended: %v", err)
		}
		if _, err := turns.Acquire(ctx, org); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with an ended context: %v", err)
		}
		if _, err := turns.Acquire(t.Context(), org); !fault.Is(err, fault.Overloaded) {
			t.Errorf("without end: %v", err)
		}
		release()
		acquire(t, turns, org)()
		if turns.free != 1 || len(turns.held) != 0 || !turns.waiting.Empty() {
			t.Errorf("left behind: %+v", turns)
		}
	})
}

// Who doesn't wait gets what is free, as much as an organization may hold.
func TestTryAcquire(t *testing.T) {
	turns, greedy, other := New(3, 2), uuid.New(), uuid.New()
	first, ok := turns.TryAcquire(greedy)
	second, ok2 := turns.TryAcquire(greedy)
	if _, third := turns.TryAcquire(greedy); !ok || !ok2 || third {
		t.Errorf("an organization got %v, %v, %v", ok, ok2, third)
	}
	last, ok := turns.TryAcquire(other)
	if _, more := turns.TryAcquire(other); !ok || more {
		t.Errorf("another one got %v, %v", ok, more)
	}
	first()
	first() // does nothing
	if again, ok := turns.TryAcquire(other); !ok {
		t.Error("what was released is not to be had")
	} else {
		again()
	}
	second()
	last()
	if turns.free != 3 || len(turns.held) != 0 {
		t.Errorf("left behind: %+v", turns)
	}
}
