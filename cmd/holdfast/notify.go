package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/holdfast/holdfast/notify"
)

// lookForNotices is how often the audit log is looked at for what to tell.
const lookForNotices = time.Second

// notifyRegularly sends notices in the background until ctx ends or stop is called, which
// waits for those that are on their way to be given up.
func notifyRegularly(ctx context.Context, source notify.Source, addresses notify.Addresses, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	follower := notify.New(source, addresses, log)
	_ = follower.Begin(ctx) // before anything is served; Follow tries again, and logs
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(lookForNotices)
		defer ticker.Stop()
		follower.Follow(ctx, ticker.C)
	}()
	return func() {
		cancel()
		<-ended
	}
}
