//go:build e2e

package test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

// guessing is what came of an attack, and of those who worked meanwhile.
type guessing struct {
	mu      sync.Mutex
	guesses map[int]int     // by the status of the answer
	looked  map[string]bool // which the server had to look at: the same wrong key again is none
	// How long honest requests took: with known keys, the first one with a key that the
	// server had never seen, and those after it.
	known, first, arrived []time.Duration
	faults                []error
}

// guess tries keys until ctx ends.
func (g *guessing) guess(ctx context.Context, o tenant, victims []victim) {
	for ctx.Err() == nil {
		o.id = victims[rand.IntN(len(victims))].known.id
		if rand.IntN(4) == 0 {
			o.id = uuid.New()
		}
		o.key = anyKey(o.id)
		status, _, err := o.call("GET")
		g.note(func() {
			if g.guesses == nil {
				g.guesses, g.looked = map[int]int{}, map[string]bool{}
			}
			g.guesses[status]++
			if status == http.StatusUnauthorized {
				g.looked[o.id.String()+o.key] = true
			}
			if err != nil {
				g.faults = append(g.faults, err)
			}
		})
	}
}

// work sends a request now and then until ctx ends.
func (g *guessing) work(ctx context.Context, o *tenant, took *[]time.Duration) {
	for ctx.Err() == nil {
		g.honest(o, took)
		pause(ctx, honestPause)
	}
}

// arrive sends the first request.
func (g *guessing) arrive(o *tenant) { g.honest(o, &g.first) }

func (g *guessing) honest(o *tenant, took *[]time.Duration) {
	status, time, err := o.call("GET")
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("an honest request got %d", status)
	}
	g.note(func() {
		*took = append(*took, time)
		if err != nil {
			g.faults = append(g.faults, err)
		}
	})
}

func (g *guessing) note(what func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	what()
}

// check prints the figures, and holds them to what was promised.
func (g *guessing) check(t *testing.T) {
	t.Helper()
	for i, fault := range g.faults {
		if i < 5 {
			t.Error(fault)
		}
	}
	t.Logf("guesses by status: %v in %s, %d honest requests", g.guesses, guessingTime, len(g.known)+len(g.first)+
		len(g.arrived))
	// Of an address, one more at the end of every six seconds; keys of the usual form apart.
	most := 2 * guesserCount * (guessesAtOnce + int(guessingTime/(6*time.Second)) + 1)
	if looked := len(g.looked); looked > most {
		t.Errorf("%d guesses were looked at, want %d at most", looked, most)
	}
	for _, status := range slices.Sorted(maps.Keys(g.guesses)) {
		if status != http.StatusUnauthorized && status != http.StatusTooManyRequests {
			t.Errorf("%d guesses got %d", g.guesses[status], status)
		}
	}
	percentile(t, "first requests with an unknown key", g.first)
	for name, all := range map[string][]time.Duration{"known keys": g.known,
		"unknown keys": slices.Concat(g.first, g.arrived)} {
		if p99 := percentile(t, name, all); p99 >= honestLimit {
			t.Errorf("%s: the 99th percentile is %s, want less than %s", name, p99, honestLimit)
		}
	}
}

// percentile prints how long requests took, and returns the 99th percentile.
func percentile(t *testing.T, name string, all []time.Duration) time.Duration {
	t.Helper()
	if len(all) == 0 {
		t.Fatalf("%s: none", name)
	}
	slices.Sort(all)
	p99 := all[(len(all)*99+99)/100-1]
	t.Logf("%s: %d, median %s, p99 %s, longest %s", name, len(all), all[len(all)/2], p99, all[len(all)-1])
	return p99
}

// call writes or reads a state, and returns how long that took.
func (o *tenant) call(method string) (status int, took time.Duration, err error) {
	var body []byte
	if method == "POST" {
		body = []byte(`{"version":4,"serial":1,"lineage":"5ad8"}`)
	}
	start := time.Now()
	answer, err := o.send(method, "/api/v1/state/guessed", body)
	if err != nil {
		return 0, 0, err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, time.Since(start), err
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
