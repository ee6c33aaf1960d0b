package pause

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		if err := For(t.Context(), time.Minute); err != nil || time.Since(begin) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		early := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(early) })
		begin = time.Now()
		if err := Until(t.Context(), time.Minute, early); err != nil || time.Since(begin) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := For(ctx, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}
