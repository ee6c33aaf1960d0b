package server

import (
	"context"
	"log/slog"
	"time"
)

// When retention is looked after: not in the first minute, in which clients come back.
const (
	firstSweep = time.Minute
	sweepEvery = time.Hour
)

// sweepRegularly sweeps in the background until ctx ends or stop is called, which waits
// for the sweep that is under way to give up.
func sweepRegularly(ctx context.Context, sweep func(context.Context) error, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		timer := time.NewTimer(firstSweep)
		defer timer.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
			if err := sweep(ctx); err != nil && ctx.Err() == nil {
				log.ErrorContext(ctx, "not all that policies no longer keep was removed; the next sweep tries again", "error", err)
			}
			timer.Reset(sweepEvery)
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}
