//go:build e2e

package test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
)

// moments are when the server is killed: as soon as a run is seen there, or a little later.
func moments() map[string]func(api.Run) bool {
	return map[string]func(api.Run) bool{
		"prepare":  is("preparing", "prepare"),
		"init":     is("preparing", "init"),
		"plan":     is("planning", "plan"),
		"show":     is("planning", "show"),
		"check":    is("checking", ""),
		"awaiting": is("awaiting_approval", ""),
		"claimed":  is("applying", ""),
		"apply":    is("applying", "apply"),
		"output":   is("applying", "output"),
	}
}

// TestServerKilledInEveryPhase kills the server while one run is in a certain phase, and another
// one somewhere. Both end as if nothing had been. The usual run takes some of the phases, once.
func TestServerKilledInEveryPhase(t *testing.T) {
	t.Parallel()
	rounds, left := 50, len(moments())
	if measuresBriefly() {
		rounds, left = 1, 2
	}
	for name, there := range moments() { // in any order
		if left--; left < 0 {
			break
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newRunBench(t)
			for round := 0; round < rounds && !t.Failed(); round++ {
				b.killedIn(fmt.Sprintf("%s-%d", name, round), there)
			}
			b.clean()
		})
	}
}

func (b *runBench) killedIn(name string, there func(api.Run) bool) {
	b.Helper()
	const resources = 2
	var orders []api.Run
	for _, place := range []string{name, name + "-beside"} {
		b.workspace(place, slowly(resources))
		orders = append(orders, b.order(place, "apply"))
	}
	b.reached(orders[0].ID, name, there)
	time.Sleep(rand.N(100 * time.Millisecond))
	b.kill()
	time.Sleep(rand.N(500 * time.Millisecond))
	b.must(b.server.start())
	for _, order := range orders {
		run := b.ended(order.ID)
		b.exact(run, resources)
		if run.Attempt != 1 {
			b.Errorf("killed in %s: the run needed attempt %d\n%s", name, run.Attempt, b.story(run.ID))
		}
	}
}

// reached waits until a run is somewhere, and approves of its plan on the way.
func (b *runBench) reached(id, name string, there func(api.Run) bool) {
	b.Helper()
	b.until(id, name, func(r api.Run) bool {
		if there(r) {
			return true
		}
		if r.Status == "awaiting_approval" {
			b.approve(r)
		}
		return false
	})
}
