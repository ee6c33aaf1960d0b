package verify

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// Each rank is served before those behind it, and yet each gets every fourth turn.
func TestRanksTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newQueue(1, roomy())
		if err := g.acquire(t.Context(), request{}); err != nil {
			t.Fatal(err)
		}
		var order []rank
		for i := range 6 {
			for _, r := range []rank{suspect, stranger, familiar} {
				go func() {
					if err := g.acquire(t.Context(), request{origin{org: orgA, client: fmt.Sprint(i)}, r, false}); err != nil {
						t.Error(err)
					}
					order = append(order, r)
					g.release()
				}()
				synctest.Wait()
			}
		}
		g.release()
		synctest.Wait()
		const f, n, s = familiar, stranger, suspect
		want := []rank{f, n, f, s, f, n, f, s, f, n, f, s, n, n, n, s, s, s}
		if diff := cmp.Diff(want, order); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
		if g.free != 1 {
			t.Errorf("%d free", g.free)
		}
	})
}

// The only caller from an address goes before those from addresses that failed, or that
// send several at once.
func TestFloodWaitsBehindStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Checks: 1})
		b.Use(ring(t, map[uuid.UUID][]int{orgA: {1}, orgB: {2}}))
		if looked := b.guess("192.0.2.1", orgA, 1); looked != 1 {
			t.Fatal("not looked at")
		}
		release := b.holdUp()
		go b.from("203.0.113.1", orgB, "bad") // runs
		synctest.Wait()
		for i := range 8 {
			go b.from("192.0.2.1", orgA, fmt.Sprint("worse", i))
			go b.from("192.0.2.2", orgA, fmt.Sprint("worse", i))
		}
		synctest.Wait()
		go b.from("198.51.100.1", orgA, "k1")
		synctest.Wait()
		ahead, behind := b.queue.rank[stranger].waiting, b.queue.rank[suspect].waiting
		if ahead != 2 || behind != 8+7 {
			t.Errorf("%d and %d are waiting, want 2 and 15", ahead, behind)
		}
		release()
	})
}
