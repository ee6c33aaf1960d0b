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
// the run is lost. Its calls wait for what the server wants, which comes at once so. A server that
// can't be reached changes nothing: whether the run is lost is for the server to say.
func (s *stage) renew(ctx context.Context) {
	every := leaseEvery
	for ctx.Err() == nil {
		began := time.Now()
		known, _ := s.cancels.state()
		lease, poked, err := s.renewWaiting(ctx, every, known)
		switch {
		case isLoss(err):
			s.lose()
			return
		case poked:
			continue
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
		rest := every - time.Since(began)
		if err == nil && (rest <= 0 || parseLevel(lease.Cancel) > known) {
			continue
		}
		timer := time.NewTimer(max(rest, time.Second))
		select {
		case <-timer.C:
		case <-s.poke: // another phase has begun
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// renewWaiting renews the lease, and waits for the server to want something, until another phase
// begins: poked says that it does.
func (s *stage) renewWaiting(ctx context.Context, wait time.Duration,
	known level) (lease api.Lease, poked bool, err error) {
	ctx, stop := context.WithCancel(ctx)
	watched := make(chan bool, 1)
	go func() {
		select {
		case <-s.poke:
			stop()
			watched <- true
		case <-ctx.Done():
			watched <- false
		}
	}()
	lease, err = s.renewOnce(ctx, wait, known)
	stop()
	return lease, <-watched, err
}

func (s *stage) renewOnce(ctx context.Context, wait time.Duration, known level) (api.Lease, error) {
	ctx, stop := context.WithTimeout(ctx, leasePatience+wait)
	defer stop()
	r := s.sight.renewal()
	r.Epoch, r.Stage, r.Wait, r.Cancel = s.assignment.Epoch, s.assignment.Stage, int(wait/time.Second), known.String()
	return s.executor.settings.Server.Lease(ctx, s.hold(), r)
}
