// Package pause waits.
package pause

import (
	"context"
	"time"
)

// For waits for so long, or until ctx ends, whose error it returns then.
func For(ctx context.Context, d time.Duration) error { return Until(ctx, d, nil) }

// Until is For that also ends, without an error, when early is closed.
func Until(ctx context.Context, d time.Duration, early <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-early:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
