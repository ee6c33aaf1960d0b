package sqlite

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// TestRetriedDecision has a batch undone and decisions that change their minds when they
// are asked again: nothing of the first answer may be left.
func TestRetriedDecision(t *testing.T) {
	refused, body := errors.New("refused"), []byte("{}")
	for name, refuse := range map[string][2]error{"refused first": {refused, nil}, "refused then": {nil, refused}} {
		t.Run(name, func(t *testing.T) {
			s, _ := opened(t)
			ref, asked := newRef("retried"), 0
			release := hold(t, s, ref.Org)
			var wg sync.WaitGroup
			wg.Go(func() {
				head, err := s.Update(context.Background(), ref, body, func(h state.Head) (state.Change, error) {
					asked++
					if err := refuse[asked-1]; err != nil {
						return state.Change{}, err
					}
					return accept(describe(body))(h)
				})
				if !errors.Is(err, refuse[1]) || head.Exists() != (refuse[1] == nil) {
					t.Errorf("head %+v, error %v; want only the last answer, %v", head, err, refuse[1])
				}
			})
			waitQueued(t, s, 1)
			wg.Go(func() {
				if err := s.submit(context.Background(), server(), 0,
					func(*session) error { return errors.New("undone") }); err == nil {
					t.Error("the bad job has no error")
				}
			})
			waitQueued(t, s, 2)
			release()
			wg.Wait()
			if asked != 2 {
				t.Errorf("the decision was asked %d times", asked)
			}
		})
	}
}

// TestBatchBytes queues jobs that each fill a batch.
func TestBatchBytes(t *testing.T) {
	s, _ := opened(t)
	release, before := hold(t, s), s.writer.Commits()
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if err := s.submit(context.Background(), server(), batchBytes, func(*session) error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	waitQueued(t, s, 3)
	release()
	wg.Wait()
	if commits := s.writer.Commits() - before; commits != 4 {
		t.Errorf("%d commits, want that of the job that held the writer and one each", commits)
	}
}

// TestReadyIsShared ends the context of the caller who made the probe: others get its
// result too.
func TestReadyIsShared(t *testing.T) {
	s, _ := opened(t)
	release := hold(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan error)
	go func() { answer <- s.Ready(ctx) }()
	waitQueued(t, s, 1)
	cancel()
	release()
	if err := <-answer; err != nil {
		t.Error(err)
	}
}

// TestReadyClockBack sets the clock back: the last result's age can't be told then.
func TestReadyClockBack(t *testing.T) {
	s, clock := opened(t)
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	setPragma(t, s, "query_only = 1")
	clock.Add(-stateengine.ReadyFor)
	wantFault(t, s.Ready(t.Context()), fault.StoreUnavailable)
}
