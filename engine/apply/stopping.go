package apply

import (
	"context"
	"time"

	"github.com/holdfast/holdfast/engine/provider"
)

// stopWithin is how long a provider that was told to stop has to come back with what it has made.
const stopWithin = 10 * time.Second

// stopping is the context of a call that changes an object. When ctx ends, the provider is told to stop, and the call
// is cut off only some time after that: until then the provider can say what there is by now, which is recorded.
func stopping(ctx context.Context, p provider.Provider) (call context.Context, end func()) {
	call, cut := context.WithCancel(context.WithoutCancel(ctx))
	forget := context.AfterFunc(ctx, func() {
		defer cut()
		within, done := context.WithTimeout(call, stopWithin)
		defer done()
		if p.Stop(within) == nil {
			<-within.Done()
		}
	})
	return call, func() {
		forget()
		cut()
	}
}
