package dual

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/holdfast/holdfast/fault"
)

const (
	statusFor     = time.Second     // how long the sides' answers hold
	statusTimeout = 2 * time.Second // after which a side counts as hung
)

// statusCache has what the sides said last.
type statusCache struct {
	mu   sync.Mutex
	at   time.Time
	errs [2]error
}

// Backlog returns how many requests each side is owed.
func (s *Store) Backlog() map[string]int64 {
	backlog := map[string]int64{}
	for _, d := range s.sides {
		backlog[d.label] = d.owed.Load()
	}
	return backlog
}

// Refused returns how many requests each side has refused for good since the start, which the other one may have.
func (s *Store) Refused() map[string]int64 {
	counts := map[string]int64{}
	for _, d := range s.sides {
		counts[d.label] = d.refused.Load()
	}
	return counts
}

// Status implements inventory.Store.
func (s *Store) Status(ctx context.Context) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	errs := s.sideStatus(ctx)
	var behind []string
	for _, d := range s.sides {
		if owed := d.owed.Load(); owed > 0 {
			behind = append(behind, fmt.Sprintf("%s is behind by %d requests", d.label, owed))
		} else if errs[d.name] != nil {
			behind = append(behind, fmt.Sprintf("%s is not available", d.label))
		}
	}
	cause := errors.Join(errs[:]...)
	switch {
	case errs[csv] != nil && errs[database] != nil:
		return fault.Wrap(cause, fault.StoreUnavailable, "both sides of the store are away")
	case len(behind) == 0:
		return nil
	case s.heldBytes.Load() >= s.o.MaxBacklogBytes:
		return fault.Wrap(cause, fault.StoreFull, "%s, which is as much as may be kept", strings.Join(behind, ", "))
	}
	return fault.Wrap(cause, fault.StoreDegraded, "%s", strings.Join(behind, ", "))
}

// sideStatus asks both sides, at most once a second however many ask.
func (s *Store) sideStatus(ctx context.Context) [2]error {
	s.status.mu.Lock()
	defer s.status.mu.Unlock()
	now := s.o.Now()
	if age := now.Sub(s.status.at); !s.status.at.IsZero() && age >= 0 && age < statusFor {
		return s.status.errs
	}
	// Without the caller's end: others get this answer too.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statusTimeout)
	defer cancel()
	var wg sync.WaitGroup
	for _, d := range s.sides {
		wg.Go(func() { s.status.errs[d.name] = s.statusOf(ctx, d) })
	}
	wg.Wait()
	s.status.at = now
	return s.status.errs
}

// statusOf doesn't wait for a side that hangs.
func (s *Store) statusOf(ctx context.Context, d *side) error {
	answer := make(chan error, 1)
	s.calls.Go(func() { answer <- d.store.Status(ctx) })
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return fault.Wrap(ctx.Err(), fault.StoreUnavailable, "%s does not answer", d.label)
	}
}

// room refuses batches that would have to be kept for a side, when the outbox keeps as much of the organization as it
// may.
//
// That is as much as is still free: one organization alone gets half of the outbox, two get a third each, and so on. So
// however many are behind, there is room left for another one.
func (s *Store) room(l *lane, to names, size int64) error {
	held := l.owedBytes(csv) + l.owedBytes(database)
	if held == 0 && to == both || held+size <= s.o.MaxBacklogBytes-s.heldBytes.Load() {
		return nil
	}
	behind := "one side of the store is away"
	for _, d := range s.sides {
		if l.owing().has(d.name) {
			behind = d.label + " is behind"
		}
	}
	err := fault.New(fault.BacklogFull, "%s, and as much of this organization's uploads as may be is kept for it already",
		behind)
	err.RetryAfter = lastWait
	return err
}
