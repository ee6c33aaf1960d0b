package client

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/holdfast/holdfast/api"
)

// Import says what is known of a version that was kept elsewhere.
type Import struct {
	// At is when it was written there; not before the version that it follows.
	At time.Time
	// After is the number of the version that it follows; 0 for a state's first.
	After  uint64
	Source string // where it comes from; it is recorded
	LockID string // of the lock that the caller holds; empty if nobody may hold one
}

// Import stores what is left of a body as the version behind another one, with its own time, and
// returns the version. The same bytes behind the same version are one, so it may be sent again.
func (c *Client) Import(ctx context.Context, name string, content io.Reader, i Import) (api.Version, error) {
	r := ofState(http.MethodPost, name, "import")
	r.query = map[string]string{"time": i.At.UTC().Format(time.RFC3339Nano), "after": positive(i.After),
		"source": i.Source, "ID": i.LockID}
	r.body = bodyOf(content)
	return ask[api.Version](ctx, c, r)
}
