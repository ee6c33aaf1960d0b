package apply

import (
	"context"
	"sync"
)

// saver saves the state so that who waits for it knows that what came before is kept. Those who wait while
// one save runs share the next.
type saver struct {
	save func(ctx context.Context) error

	mu      sync.Mutex // held while it saves
	queue   sync.Mutex
	waiting *batch
}

type batch struct {
	done chan struct{}
	err  error
}

// flush returns when everything recorded before the call is saved.
func (s *saver) flush(ctx context.Context) error {
	s.queue.Lock()
	b, first := s.waiting, false
	if b == nil {
		b, first = &batch{done: make(chan struct{})}, true
		s.waiting = b
	}
	s.queue.Unlock()
	if !first {
		<-b.done
		return b.err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.Lock()
	s.waiting = nil // who comes from now on isn't in this save any more
	s.queue.Unlock()
	b.err = s.save(ctx)
	close(b.done)
	return b.err
}
