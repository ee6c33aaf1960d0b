//go:build e2e

package test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/suite"
)

// TestCancelInEveryPhase cancels runs wherever they are, softly, and hard right behind that. Each
// ends, and leaves nothing in the way of the next apply, which makes what is still to be made.
// The usual run takes some of the phases.
func TestCancelInEveryPhase(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	rounds, left := 5, 2*len(moments())
	if measuresBriefly() {
		rounds, left = 1, 3
	}
	b := newRunBench(t)
	t.Run("all", func(t *testing.T) {
		for _, i := range rand.Perm(2 * len(moments()))[:left] {
			moment, level := moments()[i/2], []string{"soft", "hard"}[i%2]
			t.Run(moment+" "+level, func(t *testing.T) {
				t.Parallel()
				on := *b
				on.T = t
				on.cancelledOften(moment, level, i, rounds)
			})
		}
	})
	b.clean()
}

// cancelledOften cancels until so many runs were where they were to be.
func (b *runBench) cancelledOften(moment, level string, number, rounds int) {
	b.Helper()
	hits := 0
	for round := 0; round < 3*rounds && hits < rounds; round++ {
		if b.cancelledIn(fmt.Sprintf("cancelled-%d-%d", number, round), moment, level) {
			hits++
		}
		if measuresBriefly() {
			return
		}
	}
	if hits < rounds {
		b.Errorf("only %d runs were cancelled in %s", hits, moment)
	}
}

// cancelledIn returns whether the run was at the moment when it was cancelled.
func (b *runBench) cancelledIn(name, moment, level string) bool {
	b.Helper()
	const resources = 2
	b.workspace(name, checkedSlowly(resources))
	run := b.order(name, "apply")
	b.reached(run.ID, moment)
	if rand.N(2) == 0 {
		time.Sleep(rand.N(500 * time.Millisecond))
	}
	ctx := b.Context()
	seen, err := b.client.CancelRun(ctx, run.ID, api.CancelOrder{Reason: "not this one"})
	asked := err == nil
	hit := asked && (momentOf(seen) == moment || moment == "awaiting")
	if level == "hard" {
		_, _ = b.client.CancelRun(ctx, run.ID, api.CancelOrder{Level: "hard", Reason: "now"})
	}
	run = b.until(run.ID, "ended", isOver)
	if want := "cancelled"; asked && run.Status != want && !(run.Status == "succeeded" && run.After > 0) {
		b.Errorf("cancelled in %s, the run is %s: %s\n%s", moment, run.Status, run.Reason, b.story(run.ID))
	}
	next := b.ended(b.order(name, "apply").ID)
	if next.Status != "succeeded" {
		b.Errorf("behind one cancelled in %s, the next run is %s: %s\n%s", moment, next.Status, next.Reason, b.story(next.ID))
		return hit
	}
	if n := len(b.instances(name)); n != resources {
		b.Errorf("behind one cancelled in %s, the state has %d resources", moment, n)
	}
	return hit
}
