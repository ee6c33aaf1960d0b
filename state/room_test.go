package state

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast/holdfast/fault"
)

// take takes room that must be free at once.
func take(t *testing.T, r *Room, size int64) (release func()) {
	t.Helper()
	before := time.Now()
	release, err := r.Take(t.Context(), size)
	if err != nil || time.Since(before) > 0 {
		t.Fatalf("%d bytes: %v after %v", size, err, time.Since(before))
	}
	return release
}

func TestLargeStatesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRoom()
		first, second := take(t, r, roomBytes/2), take(t, r, roomBytes/2)
		got := make(chan func())
		go func() {
			third, err := r.Take(t.Context(), leastLarge)
			if err != nil {
				t.Error(err)
			}
			got <- third
		}()
		synctest.Wait()
		select {
		case <-got:
			t.Fatal("a third large state found room")
		default:
		}
		take(t, r, leastLarge-1)() // small ones pass
		first()
		first() // gives back nothing more
		third := <-got
		third()
		second()
		take(t, r, 3*roomBytes)() // more than there is takes all
	})
}

func TestWaitingForRoomEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRoom()
		release := take(t, r, roomBytes)
		before := time.Now()
		_, err := r.Take(t.Context(), leastLarge)
		if !fault.Is(err, fault.Overloaded) || time.Since(before) != roomWait {
			t.Errorf("%v after %v", err, time.Since(before))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.Take(ctx, leastLarge); !errors.Is(err, context.DeadlineExceeded) || fault.Is(err, fault.Overloaded) {
			t.Errorf("the caller gave up: %v", err)
		}
		release()
		take(t, r, roomBytes)()
	})
}

func TestNoRoomIsNoBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 3 {
			take(t, nil, roomBytes)
		}
	})
}

// A write waits for nobody, whatever is in use; who looks waits for a write.
func TestWritesDoNotWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		room := NewRoom()
		write := room.TakeFree(94 << 20)
		if _, err := room.Take(t.Context(), roomBytes); !fault.Is(err, fault.Overloaded) {
			t.Errorf("beside a write: %v; want %s", err, fault.Overloaded)
		}
		write()
		look, err := room.Take(t.Context(), roomBytes)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		room.TakeFree(94 << 20)() // gives back no more than it took
		if waited := time.Since(began); waited > 0 {
			t.Errorf("a write waited for %v", waited)
		}
		if _, err := room.Take(t.Context(), leastLarge); !fault.Is(err, fault.Overloaded) {
			t.Errorf("beside a look: %v; want %s", err, fault.Overloaded)
		}
		look()
	})
}
