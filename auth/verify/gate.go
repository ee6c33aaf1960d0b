package verify

import (
	"context"
	"errors"
	"sync"
)

// errCrowded is returned by gate.enter to whom it turns away.
var errCrowded = errors.New("too many key checks are waiting")

// rank is how soon somebody's turn comes.
type rank int

// The ranks, the first in front.
const (
	familiar rank = iota // whoever has a key that was found good before
	stranger             // the only one from an address with no failure on record
	suspect              // everybody else
	ranks
)

// preference returns which rank comes first at the n-th turn. Nobody of it may be waiting:
// then the first rank that has somebody does. So each rank is sure of every fourth turn,
// and no flood of one, which may well be honest, keeps another out for good.
func preference(n int) rank { return [...]rank{familiar, stranger, familiar, suspect}[n%4] }

// visit is what the gate knows of a caller.
type visit struct {
	place
	rank     rank
	admitted bool // it was let in before, and may wait whatever the limits say
}

// gate lets a bounded number of key checks run at once and decides who is next: somebody
// of the first rank, usually, and within a rank by turns (see lane).
type gate struct {
	mu    sync.Mutex
	free  int // checks that may start; above zero only while nobody waits
	turn  int
	lanes [ranks]lane
}

func newGate(width int, limit crowd) *gate {
	g := &gate{free: width}
	for r := range g.lanes {
		g.lanes[r] = newLane(limit)
	}
	return g
}

// enter waits for its turn; leave must follow, unless it fails. It does with errCrowded
// when too many wait, at once or when somebody else gets the room, and with ctx's error,
// at once, when ctx ends.
func (g *gate) enter(ctx context.Context, v visit) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g.mu.Lock()
	if g.free > 0 {
		g.free--
		g.mu.Unlock()
		return nil
	}
	lane := &g.lanes[v.rank]
	if !v.admitted && !lane.makeRoom(v.place) {
		g.mu.Unlock()
		return errCrowded
	}
	w := lane.join(v)
	g.mu.Unlock()

	select {
	case <-w.turn:
		if w.away {
			return errCrowded
		}
		return nil
	case <-ctx.Done():
		g.abandon(w)
		return ctx.Err()
	}
}

// leave ends a check and lets the next one start.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.passOn()
}

func (g *gate) passOn() {
	first := preference(g.turn)
	g.turn++
	if g.lanes[first].serve() {
		return
	}
	for r := range g.lanes {
		if g.lanes[r].serve() {
			return
		}
	}
	g.free++
}

// abandon takes w out of its queues. When its turn came meanwhile, the next one gets it.
func (g *gate) abandon(w *waiter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-w.turn:
		if !w.away {
			g.passOn()
		}
	default:
		g.lanes[w.rank].remove(w)
	}
}
