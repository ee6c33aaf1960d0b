package webhook

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/holdfast/holdfast/audit"
)

// shift is whose turn it is, as a test says.
type shift struct {
	mu    sync.Mutex
	whose string
	left  []string
	down  error
}

func (s *shift) give(whose string, down error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.whose, s.down = whose, down
}

// worker is one node's part of it.
type worker struct {
	*shift
	name string
}

func (w worker) Take(context.Context) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.whose == w.name, w.down
}

func (w worker) Leave(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = append(w.left, w.name)
	return nil
}

// work runs a node that shares the outbox.
func work(t *testing.T, source Source, box Outbox, turn Turn, receivers Receivers) (step, stop func()) {
	f := New(Config{Source: source, Outbox: box, Turn: turn, Receivers: receivers, Networks: loopback(),
		Log: slog.New(slog.DiscardHandler)})
	f.sender.pauses = func() backoff.BackOff { return &backoff.ZeroBackOff{} }
	ctx, cancel := context.WithCancel(t.Context())
	ticks, ended := make(chan time.Time), make(chan struct{})
	go func() { defer close(ended); f.Follow(ctx, ticks, func() time.Duration { return 10 * time.Second }) }()
	stop = sync.OnceFunc(func() { cancel(); <-ended })
	t.Cleanup(stop)
	return func() { ticks <- time.Time{}; ticks <- time.Time{} }, stop
}

// TestOneNodeTells: each event is told once, by whose turn it is, which goes on where the one before
// has stopped, or was told that its turn is over.
func TestOneNodeTells(t *testing.T) {
	hook := newHook(t, func(int) int { return http.StatusOK })
	log, box, turns, receivers := &feed{}, NewMemoryOutbox(), &shift{whose: "a"}, book{acme: hook.URL}
	stepA, stopA := work(t, log, box, worker{turns, "a"}, receivers)
	stepB, stopB := work(t, log, box, worker{turns, "b"}, receivers)
	stepA()
	stepB()
	told := func(note string, step ...func()) {
		t.Helper()
		log.add(acme, audit.CandidateHold, note)
		for _, one := range step {
			one()
		}
		if n := <-hook.got; n.Note != note {
			t.Fatalf("told %q, want %q", n.Note, note)
		}
		for waiting := 1; waiting > 0; time.Sleep(time.Millisecond) { // until the receiver's answer was noted
			_, _, left, _ := box.Load(t.Context())
			waiting = len(left)
		}
	}
	told("first", stepA, stepB)
	turns.give("b", nil)
	stepA()
	stepB()
	told("second", stepA, stepB)
	turns.give("b", errors.New("away"))
	stepB()
	log.add(acme, audit.CandidateHold, "third")
	stepB()
	turns.give("a", nil)
	stepB()
	stepA()
	if n := <-hook.got; n.Note != "third" {
		t.Errorf("told %q", n.Note)
	}
	stopB()
	stopA()
	if len(hook.got) != 0 || len(turns.left) != 1 || turns.left[0] != "a" {
		t.Errorf("%d more were told; %v gave up their turns", len(hook.got), turns.left)
	}
}

// TestTurnEndsInATry: what is being tried when the turn ends is told to its end, and once.
func TestTurnEndsInATry(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	hook := newHook(t, func(try int) int {
		if try == 1 {
			close(begun)
			<-goOn
		}
		return http.StatusOK
	})
	log, box, turns, receivers := &feed{}, NewMemoryOutbox(), &shift{whose: "a"}, book{acme: hook.URL}
	step, stop := work(t, log, box, worker{turns, "a"}, receivers)
	step()
	log.add(acme, audit.CandidateHold, "first")
	step()
	<-begun
	log.add(acme, audit.CandidateHold, "second")
	step() // it waits behind the first
	turns.give("b", nil)
	step()
	turns.give("a", nil)
	step() // begins only when the try has ended
	close(goOn)
	for _, note := range []string{"first", "second"} {
		step()
		if n := <-hook.got; n.Note != note {
			t.Errorf("told %q, want %q", n.Note, note)
		}
	}
	stop()
	if len(hook.got) != 0 {
		t.Errorf("%d more were told", len(hook.got))
	}
}
