//go:build e2e

package test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
)

// TestCancelInEveryPhase cancels runs wherever they are, softly, and hard right behind that. Each
// ends, and leaves nothing in the way of the next apply, which makes what is still to be made.
// The usual run takes some of the phases.
func TestCancelInEveryPhase(t *testing.T) {
	t.Parallel()
	rounds, left := 5, 2*len(moments())
	if measuresBriefly() {
		rounds, left = 1, 3
	}
	b := newRunBench(t)
	t.Run("all", func(t *testing.T) {
		for name, there := range moments() {
			for _, level := range []string{"soft", "hard"} {
				if left--; left < 0 {
					return
				}
				t.Run(name+" "+level, func(t *testing.T) {
					t.Parallel()
					on := *b
					on.T = t
					for round := range rounds {
						on.cancelledIn(fmt.Sprintf("%s-%s-%d", name, level, round), level, there)
					}
				})
			}
		}
	})
	b.clean()
}

func (b *runBench) cancelledIn(name, level string, there func(api.Run) bool) {
	b.Helper()
	const resources = 2
	b.workspace(name, slowly(resources))
	run := b.order(name, "apply")
	b.reached(run.ID, name, there)
	time.Sleep(rand.N(500 * time.Millisecond))
	ctx := b.Context()
	_, err := b.client.CancelRun(ctx, run.ID, api.CancelOrder{Reason: "not this one"})
	asked := err == nil
	if level == "hard" {
		_, _ = b.client.CancelRun(ctx, run.ID, api.CancelOrder{Level: "hard", Reason: "now"})
	}
	run = b.until(run.ID, "ended", isOver)
	if want := "cancelled"; asked && run.Status != want && !(run.Status == "succeeded" && run.After > 0) {
		b.Errorf("cancelled in %s, the run is %s: %s\n%s", name, run.Status, run.Reason, b.story(run.ID))
	}
	next := b.ended(b.order(name, "apply").ID)
	if next.Status != "succeeded" {
		b.Errorf("behind one cancelled in %s, the next run is %s: %s\n%s", name, next.Status, next.Reason, b.story(next.ID))
		return
	}
	if n := len(b.instances(name)); n != resources {
		b.Errorf("behind one cancelled in %s, the state has %d resources", name, n)
	}
}
