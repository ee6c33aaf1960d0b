package readmap

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

// Clients read and write one state through two maps over one store. Whatever they do stops before
// and after each call of the store below, and one of them goes on at a time: which one, a schedule
// says. So each order of what can be told apart is tried, or one that is drawn.

// turn is one that waits to go on.
type turn struct {
	who string
	on  chan struct{}
}

// schedule has those who wait go on one by one.
type schedule struct {
	choose func(among int) int

	mu      sync.Mutex
	waiting []turn
}

func (s *schedule) wait(who string) {
	t := turn{who, make(chan struct{})}
	s.mu.Lock()
	s.waiting = append(s.waiting, t)
	s.mu.Unlock()
	<-t.on
}

// run has one go on after the other until none waits any more.
func (s *schedule) run() {
	for {
		synctest.Wait()
		if len(s.waiting) == 0 {
			return
		}
		slices.SortFunc(s.waiting, func(a, b turn) int {
			if a.who < b.who {
				return -1
			}
			return 1
		})
		i := s.choose(len(s.waiting))
		next := s.waiting[i]
		s.waiting = slices.Delete(s.waiting, i, i+1)
		close(next.on)
	}
}

// stepwise is a shared store whose calls wait for their turns.
type stepwise struct {
	Shared
	*schedule
	node string
}

func (s stepwise) Newest(ctx context.Context, refs []state.Ref) ([]state.Tip, error) {
	s.wait(s.node + " asks")
	tips, err := s.Shared.Newest(ctx, refs)
	s.wait(s.node + " was told")
	return tips, err
}

func (s stepwise) Current(ctx context.Context, ref state.Ref) (state.Snapshot, error) {
	s.wait(s.node + " loads")
	snapshot, err := s.Shared.Current(ctx, ref)
	s.wait(s.node + " has loaded")
	return snapshot, err
}

func (s stepwise) Update(ctx context.Context, ref state.Ref, body []byte, decide state.Decide) (state.Head, error) {
	s.wait(s.node + " writes")
	head, err := s.Shared.Update(ctx, ref, body, decide)
	s.wait(s.node + " has written")
	return head, err
}

// A client does one thing after the other: "a" and "b" read through that node, "A" and "B" write.
type clients []string

// world is what they act on.
type world struct {
	*schedule
	ref   state.Ref
	nodes map[rune]*Store

	known uint64 // newest version that anybody was told of
	old   string // what was read that is older; empty for nothing
}

// play has clients act as choose says, on maps that confirm makes their confirmers for, and
// returns who was told of an older version than somebody before.
func play(t *testing.T, all clients, confirm func(state.Newest) confirmer, choose func(int) int) string {
	w := &world{schedule: &schedule{choose: func(int) int { return 0 }}, ref: state.Ref{Org: uuid.New(), Name: "app"},
		nodes: map[rune]*Store{}}
	synctest.Test(t, func(*testing.T) {
		shared := memory.New(1 << 30)
		for _, name := range "ab" {
			below := stepwise{shared, w.schedule, string(name)}
			w.nodes[name] = New(below, 1<<20)
			w.nodes[name].tips = confirm(below)
		}
		go w.act("first", "Ab") // both have an entry
		w.run()
		w.choose = choose
		for i, does := range all {
			go w.act(fmt.Sprint(i), does)
		}
		w.run()
	})
	return w.old
}

func (w *world) act(who, does string) {
	for i, what := range does {
		w.wait(fmt.Sprint("client ", who, " step ", i))
		before := w.knows()
		got, err := w.one(what)
		if err == nil && got < before {
			w.saw(fmt.Sprintf("client %s, step %d of %s: version %d after %d", who, i, does, got, before))
		}
		if err != nil {
			w.saw(err.Error())
		}
		w.learn(got)
	}
}

// one does one thing, and returns the version that it was told of.
func (w *world) one(what rune) (uint64, error) {
	if node, reads := w.nodes[what]; reads {
		got, err := node.Current(context.Background(), w.ref)
		return got.Number, err
	}
	body := []byte("state")
	head, err := w.nodes[what-'A'+'a'].Update(context.Background(), w.ref, body, accept(body))
	return head.Version.Number, err
}

func (w *world) knows() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.known
}

func (w *world) learn(number uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known = max(w.known, number)
}

func (w *world) saw(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.old = what
}

// everyOrder calls play with choices for each order there is, until it returns something.
func everyOrder(play func(choose func(int) int) string) (wrong string, orders int) {
	var path, widths []int
	for {
		at := 0
		wrong = play(func(among int) int {
			if at == len(path) {
				path, widths = append(path, 0), append(widths, 0)
			}
			widths[at] = among
			at++
			return min(path[at-1], among-1) // two that are called alike may have changed places
		})
		orders++
		path, widths = path[:at], widths[:at]
		for at--; at >= 0 && path[at] >= widths[at]-1; at-- {
			path, widths = path[:at], widths[:at]
		}
		if wrong != "" || at < 0 {
			return wrong, orders
		}
		path[at]++
	}
}

// drawnOrders does so with orders that are drawn.
func drawnOrders(n int, play func(choose func(int) int) string) (wrong string) {
	for seed := range n {
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		if wrong = play(random.IntN); wrong != "" {
			return fmt.Sprint(wrong, " (seed ", seed, ")")
		}
	}
	return ""
}

// oneAtATime has all reads beside a look-up share the next one.
func oneAtATime(below state.Newest) confirmer { return &tips{below: below, places: 1} }

// TestNoNodeServesOlder is the promise: whoever was told of a version, by whichever node, nobody
// is told of an older one by a read that begins then.
func TestNoNodeServesOlder(t *testing.T) {
	for name, confirm := range map[string]func(state.Newest) confirmer{
		"several look-ups": func(below state.Newest) confirmer { return newTips(below) },
		"one at a time":    oneAtATime,
	} {
		for _, all := range []clients{{"a", "Ba"}, {"aa", "B"}, {"A", "Bb"}, {"a", "B", "a"}} {
			wrong, orders := everyOrder(func(choose func(int) int) string { return play(t, all, confirm, choose) })
			if wrong != "" {
				t.Errorf("%s, %q: %s", name, all, wrong)
			}
			t.Logf("%s: %q in %d orders", name, all, orders)
		}
		if wrong := drawnOrders(500, func(choose func(int) int) string {
			return play(t, clients{"aaBa", "bAab", "BaBb", "abab"}, confirm, choose)
		}); wrong != "" {
			t.Errorf("%s: %s", name, wrong)
		}
	}
}

// joining has reads share the look-up that is under way, though it began before them.
type joining struct {
	below state.Newest
	mu    sync.Mutex
	under *lookup
}

func (j *joining) of(ctx context.Context, ref state.Ref) (state.Tip, error) {
	j.mu.Lock()
	l := j.under
	if l == nil {
		l = &lookup{refs: []state.Ref{ref}, done: make(chan struct{})}
		j.under = l
		go func() {
			l.tips, l.err = j.below.Newest(ctx, l.refs)
			j.mu.Lock()
			j.under = nil
			j.mu.Unlock()
			close(l.done)
		}()
	}
	j.mu.Unlock()
	<-l.done
	return l.tips[0], l.err
}

func (j *joining) wait() {}

// TestSchedulesNotice has maps that are broken on purpose found out.
func TestSchedulesNotice(t *testing.T) {
	for name, confirm := range map[string]func(state.Newest) confirmer{
		"confirms nothing":           func(state.Newest) confirmer { return nil },
		"joins what began before it": func(below state.Newest) confirmer { return &joining{below: below} },
	} {
		found := ""
		for _, all := range []clients{{"a", "Ba"}} {
			wrong, _ := everyOrder(func(choose func(int) int) string { return play(t, all, confirm, choose) })
			found += wrong
		}
		if found == "" {
			t.Errorf("a map that %s passes", name)
		}
		t.Log(name, ": ", found)
	}
}
