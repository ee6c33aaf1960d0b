package linear_test

import (
	"context"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/linear"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// absent says of most changes that it does not know, half of which have happened.
type absent struct {
	state.Store
	mu     sync.Mutex
	random *rand.Rand
}

func newAbsent(s state.Store) state.Store {
	return &absent{Store: s, random: rand.New(rand.NewPCG(1, 2))}
}

func (s *absent) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	s.mu.Lock()
	dice := s.random.IntN(10)
	s.mu.Unlock()
	if dice < 3 {
		return state.Head{}, errLost
	}
	head, err := s.Store.Update(ctx, ref, body, decide)
	if err == nil && dice < 7 {
		return state.Head{}, errLost
	}
	return head, err
}

// stores are right ones and broken ones.
func stores() map[string]func(state.Store) state.Store {
	return map[string]func(state.Store) state.Store{
		"right":           func(s state.Store) state.Store { return s },
		"absent":          newAbsent,
		"forgetful":       func(s state.Store) state.Store { return &forgetful{Store: s} },
		"checks first":    checksThenWrites,
		"stale":           newStale,
		"commits twice":   func(s state.Store) state.Store { return &twice{Store: s} },
		"loses":           func(s state.Store) state.Store { return &lossy{Store: s} },
		"grants too much": func(s state.Store) state.Store { return &generous{Store: s} },
		"lets pass":       func(s state.Store) state.Store { return &unfenced{Store: s} },
	}
}

// The search says what Porcupine says, of histories that are short enough for that.
func TestSearchIsRight(t *testing.T) {
	suite.Deep(t)
	for name, above := range stores() {
		t.Run(name, func(t *testing.T) {
			if name != "absent" && name != "stale" {
				suite.Deep(t)
			}
			w := workload(t, 500, above)
			w.Clients, w.Length = 5, 16
			both, alike := w.Run(t.Context()).Compare(time.Second)
			if both != alike || both < 10 {
				t.Errorf("of %d states the search and Porcupine found out, and of %d the same", both, alike)
			}
		})
	}
}

// Most answers got lost, in long histories: the search decides all the same.
func TestManyLostAnswers(t *testing.T) {
	suite.Deep(t)
	if suite.UnderRace {
		t.Skip("each search is one goroutine's, so the detector finds nothing in many minutes: make deep runs it " +
			"without")
	}
	const patience = 5 * time.Minute
	w := workload(t, 1500, newAbsent)
	w.Clients, w.Length = 16, 100
	h := w.Run(t.Context())
	calls, lost := h.Size()
	if lost < calls/4 {
		t.Errorf("only %d of %d answers got lost", lost, calls)
	}
	if n := h.Undecided(patience); n > 0 {
		t.Errorf("%d histories are not decided", n)
	}
	for _, failed := range h.Check(patience, t.TempDir()) {
		t.Error(failed)
	}
}

// A history that has no order is kept, and has none when it is read again.
func TestHistoryIsKept(t *testing.T) {
	for range 10 {
		failed := workload(t, 2000, newStale).Run(t.Context()).Check(patience, t.TempDir())
		if len(failed) == 0 {
			continue
		}
		f := failed[0]
		h, err := linear.Load(f.Kept)
		if err != nil {
			t.Fatal(err)
		}
		if again := h.Check(patience, t.TempDir()); len(again) != 1 || !again[0].Decided || again[0].Name != f.Name {
			t.Errorf("read again, it is said to be %v", again)
		}
		return
	}
	t.Error("nobody noticed")
}

// All nodes were away at once, and 35 calls of sixteen clients lost their answers within a second: what these
// might have done, in any order, was more than the search looked at, as long as it told apart calls that could
// do nothing any more.
func TestBurstOfLostAnswers(t *testing.T) {
	suite.Deep(t)
	h, err := linear.Load("testdata/burst.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, failed := range h.Check(10*patience, t.TempDir()) {
		t.Error(failed)
	}
}

// TestKept checks the history in HOLDFAST_HISTORY, which an earlier test has kept.
func TestKept(t *testing.T) {
	file := os.Getenv("HOLDFAST_HISTORY")
	if file == "" {
		t.Skip("there is no HOLDFAST_HISTORY")
	}
	h, err := linear.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, failed := range h.Check(10*patience, t.TempDir()) {
		t.Error(failed)
	}
}
