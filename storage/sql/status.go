package sqluploads

import (
	"context"
	"sync"
	"time"
)

const (
	// statusAge is how long an answer of Status is good.
	statusAge = time.Second
	// statusTimeout is how long the probe may take.
	statusTimeout = 3 * time.Second
)

// probe keeps the last answer of Status. Its mutex is held while the server is asked, so
// that many callers ask once.
type probe struct {
	mu  sync.Mutex
	at  time.Time // by the real clock
	err error
}

// Status implements inventory.Store: it writes a row, because a server that lets itself be
// read may still be read-only or full.
func (s *Store) Status(ctx context.Context) error {
	if _, err := s.begin(); err != nil {
		return err
	}
	defer s.end()
	s.probe.mu.Lock()
	defer s.probe.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.probe.at.IsZero() || time.Since(s.probe.at) >= statusAge {
		s.probe.err, s.probe.at = s.ask(), time.Now()
	}
	return s.probe.err
}

// ask does not use the caller's context: the answer is for others too.
func (s *Store) ask() error {
	ctx, cancel := context.WithTimeout(context.Background(), statusTimeout)
	defer cancel()
	_, err := s.db.ExecContext(ctx, "UPDATE inventory_probe SET at = ? WHERE id = 1",
		time.Now().UTC().Truncate(time.Microsecond))
	return s.fault(err)
}
