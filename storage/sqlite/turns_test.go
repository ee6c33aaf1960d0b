package sqlite

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

// TestWritersTurns has one organization wait with more updates than two transactions take,
// and with very many: another one's update is in the next transaction, and the second in it.
func TestWritersTurns(t *testing.T) {
	for _, many := range []int{2*batchJobs - 10, 1000} {
		t.Run(fmt.Sprint(many), func(t *testing.T) {
			s, _ := opened(t)
			greedy, other := newRef("greedy"), newRef("other")
			release := hold(t, s, greedy.Org, other.Org)
			before := s.writer.Commits()
			var wg sync.WaitGroup
			decided := 0 // by the writer's goroutine alone
			for range many {
				wg.Go(func() {
					_, _ = s.Update(context.Background(), greedy, nil, func(state.Head) (state.Change, error) {
						decided++
						return state.Change{}, nil
					})
				})
			}
			waitQueued(t, s, many)
			wg.Go(func() {
				_, err := s.Update(context.Background(), other, nil, func(state.Head) (state.Change, error) {
					if commits := s.writer.Commits() - before; commits > 1 || decided > 1 {
						t.Errorf("decided behind %d transactions and %d updates of another organization", commits-1, decided)
					}
					return state.Change{}, nil
				})
				if err != nil {
					t.Error(err)
				}
			})
			waitQueued(t, s, many+1)
			release()
			wg.Wait()
		})
	}
}

// ran is what the writer has run, in its order.
type ran struct {
	t    *testing.T
	s    *Store
	jobs sync.WaitGroup
	done []string // by the writer's goroutine alone, until all have been answered
}

// queue puts a job into the queue, in which it stands on return, that does nothing.
func (r *ran) queue(org uuid.UUID, name string, bytes int) {
	r.t.Helper()
	before := r.s.writer.Waiting()
	r.jobs.Go(func() {
		err := r.s.submit(context.Background(), org, bytes, func(*session) error {
			r.done = append(r.done, name)
			return nil
		})
		if err != nil {
			r.t.Error(err)
		}
	})
	for r.s.writer.Waiting() == before {
		runtime.Gosched()
	}
}

// wait returns the names of the jobs when all have an answer.
func (r *ran) wait() []string {
	r.t.Helper()
	r.jobs.Wait()
	return r.done
}

// TestLargeJobsTurns queues jobs of which each fills a transaction: another organization's
// waits for one of them.
func TestLargeJobsTurns(t *testing.T) {
	s, _ := opened(t)
	r, greedy, other := ran{t: t, s: s}, uuid.New(), uuid.New()
	release := hold(t, s)
	for range 100 {
		r.queue(greedy, "large", batchBytes)
	}
	r.queue(other, "small", 0)
	release()
	if at := slices.Index(r.wait(), "small"); at > 1 {
		t.Errorf("it ran behind %d large jobs", at)
	}
}

// TestTurnsKeepOrder wants each organization's jobs in the order in which they came, beside
// those of the store itself.
func TestTurnsKeepOrder(t *testing.T) {
	s, _ := opened(t)
	r, a, b := ran{t: t, s: s}, uuid.New(), uuid.New()
	release := hold(t, s)
	for i := range 4 {
		r.queue(a, fmt.Sprint("a", i), 0)
	}
	r.queue(b, "b0", 0)
	r.queue(server(), "s0", 0)
	r.queue(b, "b1", 0)
	release()
	if got, want := r.wait(), []string{"a0", "b0", "s0", "a1", "b1", "a2", "a3"}; !slices.Equal(got, want) {
		t.Errorf("they ran as %v, want %v", got, want)
	}
}

// TestCloseDrains closes the store with jobs in the queue, more than a transaction takes:
// each is done, and none joins them.
func TestCloseDrains(t *testing.T) {
	s := open(t, t.TempDir())
	r, orgs := ran{t: t, s: s}, []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	release := hold(t, s)
	for i := range 2 * batchJobs {
		r.queue(orgs[i%len(orgs)], "one", 0)
	}
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	release()
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if n := len(r.wait()); n != 2*batchJobs {
		t.Errorf("%d jobs were done, want %d", n, 2*batchJobs)
	}
	wantFault(t, s.submit(t.Context(), orgs[0], 0, nil), fault.StoreUnavailable)
}
