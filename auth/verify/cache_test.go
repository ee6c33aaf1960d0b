package verify

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestFlightOutlivesTheCallerThatStartedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := newSharedChecks[string, int]()
		arrive := make(chan struct{})
		work := func(ctx context.Context) (int, error) {
			select {
			case <-arrive:
				return 7, nil
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		var first error
		go func() { _, first = fs.do(ctx, "k", work) }()
		synctest.Wait()
		var second int
		go func() { second, _ = fs.do(t.Context(), "k", work) }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if !errors.Is(first, context.Canceled) {
			t.Errorf("the first caller got %v", first)
		}
		close(arrive)
		synctest.Wait()
		if second != 7 || len(fs.running) != 0 {
			t.Errorf("the second caller got %d; %d still running", second, len(fs.running))
		}
	})
}

func TestFlightIsCalledOffWithItsLastCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := newSharedChecks[string, int]()
		ctx, cancel := context.WithCancel(t.Context())
		var ended error
		go fs.do(ctx, "k", func(ctx context.Context) (int, error) {
			<-ctx.Done()
			ended = ctx.Err()
			return 0, ended
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		if ended == nil {
			t.Fatal("the work goes on")
		}
		// A later caller starts anew.
		if got, err := fs.do(t.Context(), "k", func(context.Context) (int, error) { return 1, nil }); got != 1 || err != nil {
			t.Errorf("got %d, %v", got, err)
		}
	})
}
