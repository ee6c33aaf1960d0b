package states

import (
	"context"
	"time"

	"github.com/holdfast/holdfast/storage/stateengine"
)

// Rewinds lists the states that were something else at a time; see stateengine.Rewinds.
func (s *Store) Rewinds(ctx context.Context, at time.Time) ([]stateengine.Rewind, error) {
	const newest = "n.state = s.id AND n.number = s.newest"
	return stateengine.Rewinds(ctx, s.readers, "state_heads", "state_versions", newest, at)
}
