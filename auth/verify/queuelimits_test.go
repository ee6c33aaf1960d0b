package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// crowded is a queue of one, whose turn is taken, and what became of those who came after.
type crowded struct {
	*queue
	t     *testing.T
	leave chan struct{}
	came  []string
	away  map[string]bool // by name: whether it was turned away
	let   []string
}

func newCrowded(t *testing.T, limit queueLimits) *crowded {
	c := &crowded{queue: newQueue(1, limit), t: t, leave: make(chan struct{}), away: make(map[string]bool)}
	if err := c.acquire(t.Context(), request{origin: origin{org: uuid.New(), client: "running"}}); err != nil {
		t.Fatal(err)
	}
	return c
}

// come lets somebody with a name enter at a place.
func (c *crowded) come(name string, org uuid.UUID, client string) {
	c.came = append(c.came, name)
	go func() {
		switch err := c.acquire(c.t.Context(), request{origin: origin{org: org, client: client}}); {
		case err == nil:
			c.let = append(c.let, name)
			c.queue.release()
		case errors.Is(err, errQueueFull):
			c.away[name] = true
		}
	}()
	synctest.Wait()
}

// end lets all in who are waiting, and checks who was turned away and that the queue is as
// it was.
func (c *crowded) end(wantAway ...string) {
	c.t.Helper()
	c.queue.release()
	synctest.Wait()
	var away []string
	for _, name := range c.came {
		if c.away[name] {
			away = append(away, name)
		}
	}
	if diff := cmp.Diff(wantAway, away); diff != "" {
		c.t.Errorf("turned away (-want +got):\n%s", diff)
	}
	if len(c.let)+len(away) != len(c.came) {
		c.t.Errorf("%d came, but %d were let in and %d turned away", len(c.came), len(c.let), len(away))
	}
	if l := &c.rank[0]; l.waiting != 0 || len(l.at) != 0 || c.free != 1 || len(l.byOrg.lists) != 0 ||
		len(l.byClient.lists) != 0 {
		c.t.Errorf("the queue is left with %d waiting, %d free", l.waiting, c.free)
	}
}

func TestQueueMakesRoomForNewcomers(t *testing.T) {
	x, y, z := uuid.New(), uuid.New(), uuid.New()
	for name, run := range map[string]func(t *testing.T){
		"its own place is full": func(t *testing.T) {
			c := newCrowded(t, queueLimits{origin: 2, org: 9, client: 9, total: 9})
			c.come("first", x, "1")
			c.come("second", x, "1")
			c.come("third", x, "1")
			c.end("third")
		},
		"its own client's queue is full": func(t *testing.T) {
			c := newCrowded(t, queueLimits{origin: 2, org: 9, client: 3, total: 9})
			c.come("first", x, "1")
			c.come("second", x, "1")
			c.come("third", y, "1")
			c.come("fourth", z, "1")
			c.end("fourth")
		},
		"the fullest place of the organization gives way": func(t *testing.T) {
			c := newCrowded(t, queueLimits{origin: 9, org: 5, client: 9, total: 99})
			for range 4 { // the fullest of all, but of another organization
				c.come("elsewhere", y, "1")
			}
			c.come("one", x, "1")
			c.come("two", x, "2")
			c.come("two again", x, "2")
			c.come("two, the last", x, "2")
			c.come("one again", x, "1")
			c.come("newcomer", x, "3")
			c.end("two, the last")
		},
		"an organization of equals stays": func(t *testing.T) {
			c := newCrowded(t, queueLimits{origin: 9, org: 3, client: 9, total: 99})
			c.come("elsewhere", y, "1")
			c.come("elsewhere again", y, "1")
			c.come("elsewhere once more", y, "1")
			c.come("one", x, "1")
			c.come("two", x, "2")
			c.come("two again", x, "2")
			c.come("one too many", x, "1") // as many as two would have left
			c.end("one too many")
		},
		"the longest queue of a client gives way": func(t *testing.T) {
			c := newCrowded(t, queueLimits{origin: 9, org: 9, client: 9, total: 5})
			c.come("one", x, "1")
			c.come("one again", y, "1")
			c.come("one, the last", z, "1")
			c.come("two", x, "2")
			c.come("two again", y, "2")
			c.come("newcomer", x, "3")
			c.end("one, the last")
		},
		"clients of equals stay": func(t *testing.T) {
			c := newCrowded(t, queueLimits{origin: 9, org: 9, client: 9, total: 3})
			c.come("one", x, "1")
			c.come("two", x, "2")
			c.come("two again", y, "2")
			c.come("one too many", z, "1")
			c.end("one too many")
		},
		"more clients than may wait": func(t *testing.T) {
			c := newCrowded(t, queueLimits{origin: 9, org: 9, client: 9, total: 3})
			c.come("one", x, "1")
			c.come("two", y, "2")
			c.come("three", z, "3")
			c.come("one too many", x, "4")
			c.end("one too many")
		},
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, run) })
	}
}

// A waiter who goes just as it is turned away has had no turn to pass on.
func TestTurnedAwayWhileLeaving(t *testing.T) {
	g := newQueue(1, queueLimits{origin: 9, org: 9, client: 9, total: 2})
	if err := g.acquire(t.Context(), request{origin: origin{org: orgA, client: "1"}}); err != nil {
		t.Fatal(err)
	}
	l := &g.rank[0]
	first, last := l.add(request{origin: origin{org: orgA, client: "1"}}),
		l.add(request{origin: origin{org: orgA, client: "1"}})
	if !l.makeRoom(origin{org: orgB, client: "2"}) {
		t.Fatal("there is no room")
	}
	g.cancel(last)
	select {
	case <-first.decided:
		t.Error("two are running at a queue of one")
	default:
	}
	g.release()
	if <-first.decided; first.rejected || !last.rejected {
		t.Errorf("turned away: first %v, last %v", first.rejected, last.rejected)
	}
	if g.release(); g.free != 1 || l.waiting != 0 {
		t.Errorf("%d free, %d waiting", g.free, l.waiting)
	}
}

func TestNetworksOfIPv6ShareAQueue(t *testing.T) {
	one := originOf(orgA, "2001:db8:1:2::1")
	if other := originOf(orgA, "2001:db8:1:ffff::1"); other != one {
		t.Errorf("a subscriber waits as %v and as %v", one, other)
	}
	if other := originOf(orgA, "2001:db8:2:2::1"); other == one {
		t.Errorf("another subscriber waits as %v too", one)
	}
}

// assault keeps sending wrong keys until ctx ends: so many at once from each address,
// and each again after a second when it was refused.
func (b *bench) assault(ctx context.Context, addresses []string, each int, org func() uuid.UUID) {
	for _, address := range addresses {
		for i := range each {
			go func() {
				for n := 0; ctx.Err() == nil; n++ {
					cred := auth.Credentials{Org: org(), Key: fmt.Sprint("bad", address, i, n)}
					if _, err := b.Verify(ctx, cred, auth.Client{Address: address}); !fault.Is(err, fault.CredentialsWrong) {
						sleep(ctx, time.Second)
					}
				}
			}()
		}
	}
	synctest.Wait()
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Floods from a few addresses must not keep anybody out who has a good key and another
// address, whichever organization they are aimed at.
func TestFloodKeepsNobodyElseOut(t *testing.T) {
	v4 := strings.Fields("192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4 192.0.2.5 192.0.2.6")
	v6 := strings.Fields("2001:db8:1::1 2001:db8:2::1 2001:db8:3::1 2001:db8:4::1 2001:db8:5::1 2001:db8:6::1")
	var subscriber []string // one who changes the /64 all the time
	for i := range 24 {
		subscriber = append(subscriber, fmt.Sprintf("2001:db8:1:%x::1", i))
	}
	victim := func() uuid.UUID { return orgA }
	for name, flood := range map[string]struct {
		addresses []string
		each      int
		org       func() uuid.UUID
	}{
		"six addresses, organizations at random": {v4, 200, uuid.New},
		"six networks, organizations at random":  {v6, 200, uuid.New},
		"six addresses, the victim":              {v4, 64, victim},
		"six networks, the victim":               {v6, 64, victim},
		"one network, organizations at random":   {subscriber, 50, uuid.New},
		"one network, the victim":                {subscriber, 50, victim},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, Config{Checks: 1, Now: time.Now})
				b.Use(ring(t, map[uuid.UUID][]int{orgA: {1, 2, 3}, orgB: {4}}))
				const check = 50 * time.Millisecond
				match := b.compare
				b.compare = func(hash, key string) bool { time.Sleep(check); return match(hash, key) }
				ctx, stop := context.WithCancel(t.Context())
				b.assault(ctx, flood.addresses, flood.each, flood.org)
				// Cold keys all, and more of them than one: what was verified needs no check.
				var in atomic.Int64
				honest := []auth.Credentials{{Org: orgA, Key: "k1"}, {Org: orgA, Key: "k2"}, {Org: orgA, Key: "k3"},
					{Org: orgB, Key: "k4"}}
				for i, cred := range honest {
					go func() {
						start := time.Now()
						if _, err := b.Verify(ctx, cred, auth.Client{Address: fmt.Sprint("198.51.100.", i)}); err != nil {
							t.Errorf("%v: %v", cred, err)
							return
						}
						in.Add(1)
						// Ten clients wait, and orgA has three hashes to be compared with.
						if took := time.Since(start); took > 3*(2*10+2)*check {
							t.Errorf("%v: waited for %v", cred, took)
						}
					}()
				}
				time.Sleep(5 * time.Second)
				synctest.Wait()
				if got := in.Load(); got != int64(len(honest)) {
					t.Errorf("%d of %d got in", got, len(honest))
				}
				stop()
				time.Sleep(check) // the last one ends
			})
		})
	}
}

// Checks that come, run, give up and are turned away at the same time lose no turn.
func TestQueueUnderPressure(t *testing.T) {
	g := newQueue(3, queueLimits{origin: 2, org: 4, client: 4, total: 6})
	var running, most atomic.Int64
	done := make(chan struct{})
	for i := range 32 {
		go func() {
			defer func() { done <- struct{}{} }()
			for n := range 300 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(n%7)*20*time.Microsecond)
				p := origin{org: uuid.NewSHA1(orgA, []byte{byte(i % 3)}), client: fmt.Sprint(n * i % 5)}
				if g.acquire(ctx, request{p, rank(n % int(ranks)), n%4 == 0}) == nil {
					if now := running.Add(1); now > most.Load() {
						most.Store(now)
					}
					running.Add(-1)
					g.release()
				}
				cancel()
			}
		}()
	}
	for range 32 {
		<-done
	}
	for i := range g.rank {
		if l := &g.rank[i]; l.waiting != 0 || len(l.at) != 0 {
			t.Errorf("%d still waiting with rank %d", l.waiting, i)
		}
	}
	if g.free != 3 || most.Load() > 3 {
		t.Errorf("%d free, up to %d running", g.free, most.Load())
	}
}
