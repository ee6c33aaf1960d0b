package agent

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/pause"
)

// The waits between two tries of a call.
const (
	firstWait   = 500 * time.Millisecond
	longestWait = 15 * time.Second
)

// isFinal reports whether another try of a call would be refused as well.
func isFinal(err error) bool {
	if _, ok := errors.AsType[*unusable](err); ok {
		return true
	}
	f, ok := errors.AsType[*fault.Error](err)
	if ok && f.Code == fault.UploadReplaced {
		return false // an earlier call of ours came late
	}
	return ok && !slices.Contains([]fault.Kind{fault.Internal, fault.Timeout, fault.TooMany, fault.Unavailable,
		fault.Degraded, fault.NoSpace}, f.Code.Kind())
}

// persist makes a call until it is answered for good: it succeeds, or is refused, or the context
// ends. A server that can't be reached is waited for.
func persist(ctx context.Context, log *slog.Logger, what string, call func(context.Context) error) error {
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		err := call(ctx)
		if err == nil || isFinal(err) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		pauses := wait
		if f, ok := errors.AsType[*fault.Error](err); ok {
			pauses = max(wait, min(f.RetryAfter, time.Minute))
		}
		log.WarnContext(ctx, "the server did not take it; trying again", "what", what, "wait", pauses, "error", err)
		if err := pause.For(ctx, pauses); err != nil {
			return err
		}
	}
}
