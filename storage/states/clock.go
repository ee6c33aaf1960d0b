package states

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// sameTime is how far from the server's clock this node's may be to count as the same: what a network that
	// is busy makes of a look at it.
	sameTime = time.Second
)

// clock is this node's clock, set by the server's: when a lock was last seen on one node is compared with what
// time it is on another one.
type clock struct {
	own func() time.Time
	off atomic.Int64 // what to add to it, in nanoseconds
}

func (c *clock) time() time.Time { return c.own().Add(time.Duration(c.off.Load())) }

// compare takes the server's time, for which was asked before and answered after, and returns by how much this
// node's clock has to be set now; zero where it goes well.
func (c *clock) compare(server, before, after time.Time) (moved time.Duration) {
	off := server.Sub(before.Add(after.Sub(before) / 2))
	if off.Abs() <= sameTime {
		off = 0
	}
	moved = off - time.Duration(c.off.Load())
	if off != 0 && moved.Abs() <= sameTime {
		return 0
	}
	c.off.Store(int64(off))
	return moved
}

// Time is the database's time, as this node knows it: that of its last look, each second, and its own clock
// since.
func (s *Store) Time() time.Time { return s.clock.time() }

// setClock looks at the server's time.
func (s *Store) setClock(ctx context.Context) error {
	var micros int64
	before := s.now()
	if err := s.readers.QueryRowContext(ctx, "SELECT "+s.sql.Now()).Scan(&micros); err != nil {
		return err
	}
	if moved := s.clock.compare(time.UnixMicro(micros), before, s.now()); moved != 0 {
		s.log.WarnContext(ctx, "this node's clock is not the database's, whose time counts; set it by NTP",
			"behind", time.Duration(s.clock.off.Load()))
	}
	return nil
}
