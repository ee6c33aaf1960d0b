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
		backlog[d.name.String()] = d.owed.Load()
	}
	return backlog
}

// DeadLetterCounts returns how many requests each side refuses for good that the other one has.
func (s *Store) DeadLetterCounts() map[string]int64 {
	counts := map[string]int64{}
	for _, d := range s.sides {
		counts[d.name.String()] = d.dead.Load()
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
	behind := s.behind(errs)
	cause := errors.Join(errs[:]...)
	switch {
	case errs[csv] != nil && errs[mysql] != nil:
		return fault.Wrap(cause, fault.StoreUnavailable, "both sides of the store are away")
	case len(behind) == 0:
		return nil
	case s.heldBytes.Load() >= s.o.MaxBacklogBytes:
		return fault.Wrap(cause, fault.StoreFull, "%s, which is as much as may be kept", strings.Join(behind, ", "))
	}
	return fault.Wrap(cause, fault.StoreDegraded, "%s", strings.Join(behind, ", "))
}

// behind says in what way the sides are not equal.
func (s *Store) behind(errs [2]error) (behind []string) {
	for _, d := range s.sides {
		if owed := d.owed.Load(); owed > 0 {
			behind = append(behind, fmt.Sprintf("%s is behind by %d requests", d.name, owed))
		} else if errs[d.name] != nil {
			behind = append(behind, fmt.Sprintf("%s is not available", d.name))
		}
		if dead := d.dead.Load(); dead > 0 {
			behind = append(behind, fmt.Sprintf("%s refuses %d requests for good (see `holdfast data deadletter list`)", d.name,
				dead))
		}
	}
	if s.SidesDiffer() {
		behind = append(behind, "csv and mysql differ by more than is owed (see `holdfast data compare`)")
	}
	return behind
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
		return fault.Wrap(ctx.Err(), fault.StoreUnavailable, "%s does not answer", d.name)
	}
}
