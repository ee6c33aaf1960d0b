package verify

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// turns is the order in which waiters were let in. It needs no lock: the queue is one wide.
type turns struct {
	queue *queue
	order []string
}

// wait lets somebody enter, note its name, and leave when told to.
func (ts *turns) wait(ctx context.Context, name string, o origin, leave <-chan struct{}) {
	go func() {
		if err := ts.queue.acquire(ctx, request{origin: o}); err != nil {
			return
		}
		<-leave
		ts.order = append(ts.order, name)
		ts.queue.release()
	}()
	synctest.Wait()
}

func roomy() queueLimits { return queueLimits{origin: 1000, org: 1000, client: 1000, total: 1000} }

func TestFloodDelaysOthersByAFewTurns(t *testing.T) {
	org := func(i int) uuid.UUID { return uuid.NewSHA1(orgA, []byte{byte(i)}) }
	floods := map[string]func(i int) origin{
		"one client, one organization":   func(int) origin { return origin{org: orgA, client: "192.0.2.1"} },
		"one client, many organizations": func(i int) origin { return origin{org: org(i), client: "192.0.2.1"} },
		"one organization, many clients": func(i int) origin { return origin{org: orgA, client: fmt.Sprint("192.0.2.", i)} },
	}
	for name, flood := range floods {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ts := turns{queue: newQueue(1, roomy())}
				leave := make(chan struct{})
				for i := range 100 {
					ts.wait(t.Context(), "bad", flood(i), leave)
				}
				ts.wait(t.Context(), "good", origin{org: orgB, client: "198.51.100.1"}, leave)
				close(leave)
				synctest.Wait()
				// The first of the flood is running already.
				for i, who := range ts.order {
					if who == "good" && i > 1+3 {
						t.Errorf("%d others went first", i)
					}
				}
				if len(ts.order) != 101 {
					t.Errorf("%d were let in, want 101", len(ts.order))
				}
			})
		})
	}
}

func TestVictimOfAFloodIsReachedFromElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := turns{queue: newQueue(1, roomy())}
		leave := make(chan struct{})
		for range 50 {
			ts.wait(t.Context(), "bad", origin{org: orgA, client: "192.0.2.1"}, leave)
		}
		ts.wait(t.Context(), "good", origin{org: orgA, client: "198.51.100.1"}, leave)
		close(leave)
		synctest.Wait()
		if diff := cmp.Diff([]string{"bad", "bad", "good", "bad"}, ts.order[:4]); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

func TestCancelledWaiterLeavesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := turns{queue: newQueue(1, roomy())}
		ctx, cancel := context.WithCancel(t.Context())
		leave := make(chan struct{})
		ts.wait(t.Context(), "first", origin{org: orgA, client: "1"}, leave)
		ts.wait(ctx, "gone", origin{org: orgA, client: "1"}, leave)
		ts.wait(t.Context(), "last", origin{org: orgA, client: "1"}, leave)
		cancel()
		synctest.Wait()
		if ts.queue.rank[0].waiting != 1 || ts.queue.rank[0].at[origin{org: orgA, client: "1"}] != 1 {
			t.Errorf("%d still waiting", ts.queue.rank[0].waiting)
		}
		if err := ts.queue.acquire(ctx, request{origin: origin{org: orgA, client: "1"}}); !errors.Is(err, context.Canceled) {
			t.Errorf("entering with an ended context: %v", err)
		}
		close(leave)
		synctest.Wait()
		if diff := cmp.Diff([]string{"first", "last"}, ts.order); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

// A turn that comes to somebody who is just leaving must reach the next one.
func TestAbandonedTurnIsPassedOn(t *testing.T) {
	g := newQueue(1, roomy())
	if err := g.acquire(t.Context(), request{origin: origin{org: orgA, client: "1"}}); err != nil {
		t.Fatal(err)
	}
	first := &g.rank[0]
	w, next := first.add(request{origin: origin{org: orgA, client: "1"}}),
		first.add(request{origin: origin{org: orgA, client: "1"}})
	g.release() // w's turn
	g.cancel(w)
	select {
	case <-next.decided:
	default:
		t.Fatal("the turn was lost")
	}
	if g.release(); g.free != 1 {
		t.Errorf("%d free, want 1", g.free)
	}
}

func TestOriginOf(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.1":            "192.0.2.1",
		"::ffff:192.0.2.1":     "192.0.2.1",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1::",
		"fe80::1%eth0":         "fe80::",
		"":                     "",
		"a name":               "a name",
		"2001:db8:1:2:ffff::6": "2001:db8:1::",
	} {
		if got := originOf(orgA, address); got != (origin{org: orgA, client: want}) {
			t.Errorf("originOf(%q) is %q, want %q", address, got.client, want)
		}
	}
}
