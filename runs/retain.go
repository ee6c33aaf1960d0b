package runs

import "context"

// Retain removes the runs that ended long ago.
func (s *Service) Retain(ctx context.Context) error {
	before := s.clock().Add(-s.Limits.KeepRuns)
	for ctx.Err() == nil {
		found, err := s.Store.Ended(ctx, before, sweepReach)
		if err != nil || len(found) == 0 {
			return err
		}
		for _, ref := range found {
			if err := s.Store.Remove(ctx, ref); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// strip removes the files of a run that ended not so long ago: nobody can apply its plan any more.
func (s *Service) strip(ctx context.Context, run Run) error {
	kinds := []FileKind{FilePlan, FilePlanJSON, FilePlanFiles, FileJSONLog}
	if err := s.Store.Strip(ctx, run.Ref(), kinds, nil); err != nil {
		return err
	}
	_, err := s.Store.Update(ctx, run.Ref(), func(r Run) (Change, error) {
		r.Stripped = r.Status.Ended()
		return Change{Run: r}, nil
	})
	return err
}
