//go:build e2e

package test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/suite"
)

// TestRunAgainstAStaleState has two people approve of a plan while a third one writes the state.
// Whoever is first: the plan is never applied to another version than its own.
func TestRunAgainstAStaleState(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	rounds := 100
	if measuresBriefly() {
		rounds = 4
	}
	b := newRunBench(t)
	ended, waits := map[string]int{}, map[string]bool{}
	for round := range rounds {
		name := fmt.Sprint("race", round)
		b.workspace(name, strings.ReplaceAll(slowly(1), "sleep 1", "true"))
		run := b.order(name, "apply")
		run = b.until(run.ID, "planned", is("awaiting_approval", ""))
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				time.Sleep(rand.N(50 * time.Millisecond))
				b.approve(run)
			})
		}
		all.Go(func() {
			time.Sleep(rand.N(800 * time.Millisecond)) // up to when the tool has its lock, and behind that
			b.write(name)
		})
		all.Wait()
		// A run that waits for the lock, or has planned again, waits for longer than is looked at.
		run = b.until(run.ID, "settled", func(r api.Run) bool {
			return isOver(r) || r.Status == "retrying" || r.Reason != "" && r.Status == "confirmed"
		})
		ended[run.Status]++
		b.unmoved(run)
		waits[run.ID] = !isOver(run)
	}
	for id, waits := range waits {
		if waits && !measuresBriefly() { // now they have waited for long enough
			run := b.until(id, "planned again", func(r api.Run) bool { return isOver(r) || r.Status == "awaiting_approval" })
			b.unmoved(run)
			ended["then "+run.Status]++
		}
	}
	t.Logf("the runs ended so: %v", ended)
}

// write stores a first version of a state, as far as nobody stops it.
func (b *runBench) write(name string) {
	body := `{"version":4,"terraform_version":"1.12.6","serial":0,"lineage":"another","outputs":{},"resources":[]}`
	_, _ = b.client.Put(context.Background(), name, strings.NewReader(body), client.Write{})
}

// unmoved asserts that a run has written nothing behind somebody else's version.
func (b *runBench) unmoved(run api.Run) {
	b.Helper()
	for v, err := range b.client.Versions(run.Workspace, 0).All(b.Context()) {
		if err == nil && v.Run == run.ID && v.Number != 1 {
			b.Errorf("run %s, whose plan was of no state, wrote version %d\n%s", run.ID, v.Number, b.story(run.ID))
		}
	}
}
