package server

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/internal/webhook"
)

const (
	// lookForNotices is how often the audit log is looked at for what to tell.
	lookForNotices = time.Second
	// leastGrace is how long what waits may be tried at a stop, whatever the requests left.
	leastGrace = time.Second
)

// notifyRegularly sends notices in the background until stop is called: when the requests
// are done, since they too bring some. Then what waits has until shutdown is over, which
// begins when ctx ends, to be delivered.
func notifyRegularly(ctx context.Context, follower *webhook.Notifier, shutdown time.Duration) (stop func()) {
	following, cancel := context.WithCancel(context.WithoutCancel(ctx))
	_ = follower.Begin(ctx) // before anything is served; Follow tries again, and logs
	var over atomic.Pointer[time.Time]
	forget := context.AfterFunc(ctx, func() { over.Store(new(time.Now().Add(shutdown))) })
	grace := func() time.Duration {
		if at := over.Load(); at != nil {
			return max(time.Until(*at), leastGrace)
		}
		return shutdown
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(lookForNotices)
		defer ticker.Stop()
		follower.Follow(following, ticker.C, grace)
	}()
	return func() {
		forget()
		cancel()
		<-ended
	}
}
