//go:build e2e

package test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/suite"
)

// TestServerKilledInEveryPhase kills the server in each phase of a run, again and again in the
// same one, while another run is somewhere. Both end as if nothing had been. The usual run is
// killed in some of the phases, once.
func TestServerKilledInEveryPhase(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	for _, bench := range torturers(2) {
		t.Run(bench, func(t *testing.T) {
			t.Parallel()
			b := newRunBench(t)
			b.killedInEveryPhase(50/2, func() time.Time {
				b.kill()
				at := time.Now()
				time.Sleep(rand.N(500 * time.Millisecond))
				b.must(b.server.start())
				return at
			})
			b.clean()
		})
	}
}

// torturers are the names of benches that torture at once; the usual run has one.
func torturers(n int) []string {
	if measuresBriefly() {
		n = 1
	}
	return []string{"one", "two", "three"}[:n]
}

// killedInEveryPhase has kill end a process in each phase as often as wanted, which is counted by
// what is on record of the runs. kill returns when the process had ended.
func (b *runBench) killedInEveryPhase(wanted int, kill func() time.Time, changes ...func(*api.WorkspaceChange)) {
	b.Helper()
	hits, chosen := map[string]int{}, moments()
	if measuresBriefly() {
		wanted = 1
		rand.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
		chosen = chosen[:3]
	}
	lacking := func() []string {
		return slices.DeleteFunc(moments(), func(moment string) bool {
			return !slices.Contains(chosen, moment) || hits[moment] >= wanted
		})
	}
	rounds := 5 * wanted // some moments are over before they are hit
	for round := 0; round < rounds && len(lacking()) > 0 && !b.Failed(); round++ {
		b.killedIn(fmt.Sprint("killed-", round), lacking(), hits, kill, changes...)
	}
	b.Logf("killed: %v", hits)
	if missed := lacking(); len(missed) > 0 && !measuresBriefly() {
		b.Errorf("in %d runs it was never %d times that something was killed in %q: %v", rounds, wanted, missed, hits)
	}
}

// killedIn makes two runs, and kills at these moments of the first one.
func (b *runBench) killedIn(name string, at []string, hits map[string]int, kill func() time.Time,
	changes ...func(*api.WorkspaceChange)) {
	b.Helper()
	const resources = 2
	always := "always"
	b.workspace(name, checkedSlowly(resources), changes...)
	b.workspace(name+"-beside", slowly(resources),
		append(changes, func(w *api.WorkspaceChange) { w.AutoApply = &always })...)
	orders := []api.Run{b.order(name, "apply")}
	var kills []time.Time
	for i, moment := range at {
		if momentOf(b.reached(orders[0].ID, moment)) != moment {
			continue // it was too fast
		}
		if i == len(at)/3 {
			orders = append(orders, b.order(name+"-beside", "apply"))
		}
		if rand.N(2) == 0 {
			time.Sleep(rand.N(100 * time.Millisecond))
		}
		kills = append(kills, kill())
	}
	for _, order := range orders {
		run := b.ended(order.ID)
		b.exact(run, resources)
		if run.Attempt != 1 {
			b.Errorf("killed in %q: the run needed attempt %d\n%s", at, run.Attempt, b.story(run.ID))
		}
		for _, time := range kills {
			hits[b.momentAt(run.ID, time)]++
		}
	}
}
