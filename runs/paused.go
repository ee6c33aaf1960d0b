package runs

import (
	"context"
	"fmt"

	"github.com/google/uuid"
)

// pauseReach is how many of a workspace's newest runs are looked at for one that isn't a check of
// the server's own: those are not made while it is paused, but for what was on its way.
const pauseReach = 20

// Paused returns why nothing of a workspace is tried again by itself; empty where it is. The
// newest run has failed as often as one is tried, and nobody has asked for another one or brought
// another configuration than this newest one since.
func (s *Service) Paused(ctx context.Context, org uuid.UUID, workspace, newest string) (string, error) {
	page, err := s.Store.List(ctx, Query{Org: org, Workspace: workspace, Limit: pauseReach})
	if err != nil {
		return "", err
	}
	for _, run := range page.Runs {
		switch {
		case run.Kind == Drift && run.Priority == Drifts:
			continue
		case run.GaveUp && run.Order.Snapshot == newest:
			return fmt.Sprintf("run %s has failed in the last of its attempts: %s", run.ID, cut(s.noteOf(run), maxNote)), nil
		}
		return "", nil
	}
	return "", nil
}
