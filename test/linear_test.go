//go:build e2e

package test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/linear"
	"github.com/holdfast/holdfast/internal/suite"
)

// Whatever becomes of nodes, of their connections and of the database, there is an order of all
// that clients asked of states and were told in which one state answers the same. A failing
// history is drawn in HOLDFAST_HISTORIES, and comes again with its HOLDFAST_SEED, if not alike.
func TestNodesAreLinearizable(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	onEach(t, testNodesAreLinearizable)
}

func testNodesAreLinearizable(t *testing.T, on databaseKind) {
	c := newCluster(t, on, 3)
	c.checkLinearizable(t, 3_000, func(random *rand.Rand) func(context.Context) error {
		return func(ctx context.Context) error {
			n, d := c.nodes[random.IntN(len(c.nodes))], time.Duration(100+random.IntN(1500))*time.Millisecond
			wait(ctx, d/2)
			switch random.IntN(8) {
			case 0:
				return n.kill()
			case 1, 2:
				return n.pause(ctx, 2*d)
			case 3:
				return n.away(ctx, d)
			case 4:
				return n.delayed(ctx, d)
			case 5:
				n.proxy.CutAnswer(";COMMIT")
			case 6:
				n.proxy.CutAfter(random.Int64N(50_000))
			case 7:
				return c.crash(ctx, d)
			}
			return nil
		}
	})
}

// So it is with one node that keeps its states itself, whatever becomes of it.
func TestOneNodeIsLinearizable(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	c := oneNode(t)
	c.checkLinearizable(t, 20_000, func(random *rand.Rand) func(context.Context) error {
		return func(ctx context.Context) error {
			d := time.Duration(100+random.IntN(1500)) * time.Millisecond
			wait(ctx, d)
			if random.IntN(2) == 0 {
				return c.nodes[0].kill()
			}
			return c.nodes[0].pause(ctx, d)
		}
	})
}

// checkLinearizable has clients make so many calls while the nemesis works, and looks for an order.
func (c *cluster) checkLinearizable(t *testing.T, calls int, nemesis func(*rand.Rand) func(context.Context) error) {
	t.Helper()
	w := linear.Workload{
		Nodes: c.clients(), Clients: 16, Hot: 3, Length: 100, Calls: number(t, "HOLDFAST_CALLS", calls),
		Patience: 2 * time.Second, Seed: uint64(number(t, "HOLDFAST_SEED", int(rand.Int64()))),
	}
	t.Logf("HOLDFAST_SEED=%d HOLDFAST_CALLS=%d", w.Seed, w.Calls)
	var h *linear.History
	began := time.Now()
	during(t, func() { h = w.Run(t.Context()) }, nemesis(rand.New(rand.NewPCG(w.Seed, 0))))
	made, lost := h.Size()
	t.Logf("%d calls in %.0f s, of which %d without an answer", made, time.Since(began).Seconds(), lost)
	began = time.Now()
	for _, failed := range h.Check(time.Minute, pictures(t)) {
		t.Error(failed)
	}
	t.Logf("checked in %.1f s", time.Since(began).Seconds())
	if made < w.Calls/2 || lost == 0 {
		t.Errorf("%d calls, of which %d lost their answers: the test shows less than it should", made, lost)
	}
}

// pictures is the folder of pictures, which outlives the test.
func pictures(t *testing.T) string {
	if dir := os.Getenv("HOLDFAST_HISTORIES"); dir != "" {
		return dir
	}
	return filepath.Join(os.TempDir(), "holdfast-histories", t.Name())
}

func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
