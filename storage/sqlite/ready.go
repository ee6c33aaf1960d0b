package sqlite

import "context"

// Ready implements state.Store. It reads and it really writes, at most once a second
// however many ask, so that a full or read-only disk shows, and shows when it is over.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	return s.ready.Ask(ctx, s.now, s.probe)
}

func (s *Store) probe(ctx context.Context) error {
	if err := s.probeRead(ctx); err != nil {
		return err
	}
	return s.probeWrite(ctx)
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
