package sqlruns

import (
	"context"

	"github.com/holdfast/holdfast/runs"
)

// CreateAll stores runs of one organization in one transaction, each with one event.
func (s *Store) CreateAll(ctx context.Context, all []runs.Run) error {
	return s.write(ctx, all[0].Ref(), 0, func(t tx) error {
		for _, run := range all {
			if _, err := t.create(run, "",
				[]runs.Event{{At: run.CreatedAt, Type: runs.EventCreated, To: run.Status}}); err != nil {
				return err
			}
		}
		return nil
	})
}
