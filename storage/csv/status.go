package csv

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"
)

const (
	probeEvery = time.Second
	probeSize  = 4096 // a block: a full disk has no room for it
)

// probe remembers what the last look at the disk said.
type probe struct {
	path string
	mu   sync.Mutex
	at   time.Time
	err  error
}

// Status implements inventory.Store: it writes to the index and to a file, at most once a
// second.
func (s *Store) Status(ctx context.Context) error {
	if err := s.life.enter(); err != nil {
		return err
	}
	defer s.life.leave()
	if err := ctx.Err(); err != nil {
		return err
	}
	s.probe.mu.Lock()
	defer s.probe.mu.Unlock()
	// Not by the store's clock: a test's, or one that was set back, may stand still.
	if s.probe.at.IsZero() || time.Since(s.probe.at) >= probeEvery {
		s.probe.err = errors.Join(fileError(writeProbe(s.probe.path)), s.index.Probe())
		s.probe.at = time.Now()
	}
	return s.probe.err
}

// writeProbe takes a new block from the disk and gives it back.
func writeProbe(path string) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(make([]byte, probeSize)); err != nil {
		return err
	}
	return f.Sync()
}
