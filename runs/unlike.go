package runs

import (
	"context"

	"github.com/holdfast/holdfast/api"
)

// An apply is given the variables that its plan was made with, or none. They are read behind the
// claim, and again for an executor that comes back, and may have been changed by then.

// unlike reports whether an apply whose tool has not begun would get other variables or options than
// its plan had, by their digest. One whose tool has begun goes on: nothing is left to be saved, and
// its executor begins nothing with others.
func (r Run) unlike(inputs string) bool {
	return r.Pin != nil && r.Pin.Inputs != inputs && !r.Touched
}

// giveUpUnlike takes such an apply from its executor, and says who has changed what. Whoever has it
// may write no more before that is on record.
func (s *Service) giveUpUnlike(ctx context.Context, run Run, inputs Inputs) error {
	if err := s.close(ctx, run); err != nil {
		return err
	}
	at, err := s.Workspaces.Workspace(ctx, run.Org, run.Workspace)
	if err != nil {
		return err
	}
	_, err = s.update(ctx, run.Ref(),
		s.by(Server()).giveUpUnlike(run.Epoch, s.staleBySettings(at.Changed, inputs.Changed)))
	return err
}

func (c call) giveUpUnlike(epoch int64, why api.Stale) Decide {
	return func(r Run) (Change, error) {
		if r.Epoch != epoch || r.Status != Applying || r.Touched {
			return nothing(r)
		}
		m := c.change(r)
		m.run.Epoch++
		return m.outdated(why).done()
	}
}

// staleBySettings names the newest of these changes.
func (s *Service) staleBySettings(all ...Changed) api.Stale {
	why := api.Stale{Since: s.clock(), Because: BySettings}
	var last Changed
	for _, c := range all {
		if !c.At.Before(last.At) {
			last = c
		}
	}
	if why.What = last.What; last.By != (api.Actor{}) {
		why.By = &last.By
	}
	return why
}
