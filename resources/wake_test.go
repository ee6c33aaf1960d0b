package resources

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/state"
)

// slow is a log of states and an index in one, where each state takes a second.
type slow struct {
	Index
	States
	position Position
	advanced chan time.Time

	mu     sync.Mutex
	events []audit.Event
}

func (s *slow) write(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		sequence := len(s.events) + 1
		s.events = append(s.events,
			audit.Event{Sequence: uint64(sequence), Org: uuid.UUID{1}, Action: audit.StateWrite,
				State: fmt.Sprint("state", sequence)})
	}
}

func (s *slow) Feed(_ context.Context, after uint64, limit int) ([]audit.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := s.events[after:]
	return rest[:min(limit, len(rest))], nil
}

func (s *slow) Head(context.Context, state.Ref) (state.Head, error) { return state.Head{}, nil }

func (s *slow) Holding(context.Context, state.Ref) (Holding, error) { return Holding{Version: 1}, nil }

func (s *slow) Holdings(context.Context, state.Ref, int) ([]Held, error) { return nil, nil }

func (s *slow) Remove(context.Context, state.Ref) error {
	time.Sleep(time.Second)
	return nil
}

func (s *slow) Position(context.Context) (Position, error) { return s.position, nil }

func (s *slow) Advance(_ context.Context, p Position) error {
	s.position = p
	s.advanced <- time.Now()
	return nil
}

func (s *slow) Followed(context.Context) (map[uuid.UUID]string, error) { return nil, nil }

func (s *slow) Damaged() bool { return false }

// TestWoken has somebody wait for what was written while the indexer had nothing to do: it
// does not rest before all of that is in the index.
func TestWoken(t *testing.T) {
	rules, err := DefaultRules()
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		s := &slow{position: Position{Complete: true}, advanced: make(chan time.Time, 1)}
		x := NewIndexer(Sources{Index: s, States: s, Uploads: inventory.Off{}, Rules: rules,
			Log: slog.New(slog.DiscardHandler), Now: time.Now})
		x.Start()
		defer x.Close()
		synctest.Wait()
		took := func(wake bool) time.Duration {
			s.write(5)
			began := time.Now()
			if wake && !x.Wake() {
				t.Error("it is not at work")
			}
			return (<-s.advanced).Sub(began)
		}
		for range 2 {
			if got := took(true); got != 5*time.Second {
				t.Errorf("five seconds' work took %v, with somebody waiting", got)
			}
			synctest.Wait()
		}
		if got := took(false); got != pollEvery+50*time.Second {
			t.Errorf("five seconds' work took %v, with nobody waiting", got)
		}
	})
}
