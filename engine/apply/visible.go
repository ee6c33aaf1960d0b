package apply

import (
	"context"
	"time"

	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/internal/pause"
)

// The first pause between two looks, and the longest.
const (
	firstLook = time.Second
	longLook  = 8 * time.Second
)

// waitVisible looks until what was created is there, less and less often. An error with false ends it.
func waitVisible(ctx context.Context, within time.Duration, look func(context.Context) (bool, error)) error {
	deadline := time.Now().Add(within)
	for wait := firstLook; ; wait = min(2*wait, longLook) {
		ok, err := look(ctx)
		if err == nil && ok {
			return nil
		}
		if err != nil && !ok {
			return err
		}
		if time.Now().Add(wait).After(deadline) {
			return &provider.Fault{Summary: "what was created can't be read", Detail: "it was looked for during " +
				within.String()}
		}
		if err := pause.For(ctx, wait); err != nil {
			return err
		}
	}
}
