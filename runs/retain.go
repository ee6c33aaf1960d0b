package runs

import (
	"context"
	"time"
)

// keepAgents is for how long an agent is known that shows no sign of life. There are only so many
// of an organization's, and machines come and go.
const keepAgents = 30 * 24 * time.Hour

// Retain removes the runs that ended long ago, and the agents that have not been seen for long.
func (s *Service) Retain(ctx context.Context) error {
	if err := s.Store.RemoveAgents(ctx, s.clock().Add(-keepAgents)); err != nil {
		return err
	}
	before := s.clock().Add(-s.Limits.KeepRuns)
	return walk(ctx, func(after Mark) ([]Mark, error) { return s.Store.Ended(ctx, before, after, sweepReach) },
		func(ref Ref) error {
			return s.remove(ctx, ref)
		})
}

// strip removes the files of a run that ended not so long ago: nobody can apply its plan any more.
func (s *Service) strip(ctx context.Context, run Run) error {
	kinds := []FileKind{FilePlan, FilePlanJSON, FilePlanFiles, FileJSONLog, FileResults}
	if err := s.Store.Strip(ctx, run.Ref(), kinds, nil); err != nil {
		return err
	}
	_, err := s.Store.Update(ctx, run.Ref(), func(r Run) (Change, error) {
		r.Stripped = r.Status.Ended()
		return Change{Run: r}, nil
	})
	return err
}
