package agent

import (
	"cmp"
	"context"
	"time"

	"github.com/holdfast/holdfast/api"
)

const (
	leaseEvery    = 10 * time.Second // where the server doesn't say
	leasePatience = 15 * time.Second // for one call
)

// renew keeps the lease of a run, and hands on what the server wants, until the context ends or
// the run is lost. A server that can't be reached changes nothing: whether the run is lost is
// for the server to say.
func (s *stage) renew(ctx context.Context) {
	every := leaseEvery
	for ctx.Err() == nil {
		began := time.Now()
		lease, err := s.renewOnce(ctx)
		switch {
		case isLoss(err):
			s.lose()
			return
		case err != nil:
			if ctx.Err() == nil {
				s.log.WarnContext(ctx, "the lease was not renewed", "error", err)
			}
			every = min(every, leaseEvery/2)
		default:
			every = time.Duration(cmp.Or(max(lease.Every, 0), int(leaseEvery/time.Second))) * time.Second
			s.cancels.raise(parseLevel(lease.Cancel))
			if lease.Drain {
				s.executor.Drain()
			}
		}
		timer := time.NewTimer(max(every-time.Since(began), time.Second))
		select {
		case <-timer.C:
		case <-s.poke: // another phase has begun
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

func (s *stage) renewOnce(ctx context.Context) (api.Lease, error) {
	ctx, stop := context.WithTimeout(ctx, leasePatience)
	defer stop()
	r := s.sight.renewal()
	r.Epoch, r.Stage = s.assignment.Epoch, s.assignment.Stage
	return s.executor.settings.Server.Lease(ctx, s.hold(), r)
}
