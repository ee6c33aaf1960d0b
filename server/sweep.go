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
	return repeat(ctx, firstSweep, sweepEvery, sweep, func(err error) {
		log.ErrorContext(ctx, "not all that policies no longer keep was removed; the next sweep tries again", "error", err)
	})
}

// sweepOften is for what must not wait: it begins at once.
func sweepOften(ctx context.Context, every time.Duration, sweep func(context.Context) error,
	log *slog.Logger) (stop func()) {
	return repeat(ctx, 0, every, sweep, func(err error) {
		log.ErrorContext(ctx, "not all runs whose time has come were looked at; the next sweep tries again", "error", err)
	})
}

// repeat does something in the background, first after a while and then again and again.
func repeat(ctx context.Context, first, every time.Duration, sweep func(context.Context) error,
	failed func(error)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		timer := time.NewTimer(first)
		defer timer.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
			if err := sweep(ctx); err != nil && ctx.Err() == nil {
				failed(err)
			}
			timer.Reset(every)
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}
