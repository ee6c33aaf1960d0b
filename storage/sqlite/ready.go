package sqlite

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast/holdfast/fault"
)

const (
	readyFor     = time.Second     // how long a probe's result holds
	probeTimeout = 5 * time.Second // after which a disk counts as hung
)

// readiness is the result of the last probe.
type readiness struct {
	turn chan struct{} // has one token; who took it may use the rest
	at   time.Time     // zero before the first probe
	err  error
}

func newReadiness() readiness {
	turn := make(chan struct{}, 1)
	turn <- struct{}{}
	return readiness{turn: turn}
}

// Ready implements state.Store. It reads and it really writes, at most once a second
// however many ask, so that a full or read-only disk shows, and shows when it is over.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	select {
	case <-s.ready.turn:
		defer func() { s.ready.turn <- struct{}{} }()
	case <-ctx.Done():
		return ctx.Err()
	}
	now := s.now()
	if age := now.Sub(s.ready.at); s.ready.at.IsZero() || age < 0 || age >= readyFor {
		// Without the caller's context: others get this result too.
		s.ready.at, s.ready.err = now, s.probe(context.WithoutCancel(ctx))
	}
	return s.ready.err
}

func (s *Store) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	err := s.probeRead(ctx)
	if err == nil {
		err = s.probeWrite(ctx)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.Wrap(err, fault.StoreUnavailable, "the store has not answered for %v", probeTimeout)
	}
	return err
}

func (s *Store) probeRead(ctx context.Context) error {
	select {
	case r := <-s.readers:
		defer func() { s.readers <- r }()
		return storeError(r.readProbe())
	case <-ctx.Done():
		return ctx.Err()
	}
}

// probeWrite doesn't wait for a write that hangs, unlike submit. Of the probes that it gives up
// those that wait leave the queue, so that one stays behind at most.
func (s *Store) probeWrite(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- s.submit(ctx, server(), 0, (*session).writeProbe) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
