package runs

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/budget"
)

// putPlan keeps a plan file, unless it is none, or one of something else than the run: of another
// state, configuration or tool. Its agreement with the run's other files is looked at when all of
// them have come, as all is once more; that is also when a plan is looked at for which there is
// no memory now.
func (s *Service) putPlan(ctx context.Context, run Run, coming incoming, body io.Reader) (File, error) {
	plain := &planCopy{hold: s.Memory.Hold(budget.Share{Org: run.Org})}
	defer plain.drop()
	coming.look = func() error {
		if plain.dropped {
			return nil
		}
		return s.refusePlan(ctx, run, plain.Bytes())
	}
	return s.put(ctx, coming, io.TeeReader(body, plain))
}

// refusePlan compares a plan with what is known of its run while it is made.
func (s *Service) refusePlan(ctx context.Context, run Run, plain []byte) error {
	facts, err := s.planFacts(plain)
	if err != nil {
		return err
	}
	tool := api.Tool{Name: facts.Tool, Version: facts.ToolVersion}
	if run.Executor != nil && run.Executor.Tool != nil {
		tool = *run.Executor.Tool
	} else if slices.Contains([]string{"opentofu", "terraform", "engine"}, run.Terms.Tool) { // they write plans
		tool.Name = run.Terms.Tool
	}
	want, err := s.wanted(ctx, run, *run.newPin(tool))
	if err != nil {
		return err
	}
	want.LockFile = facts.LockFile // which may come later
	return facts.Match(want)
}

// planCopy is what has come of a plan, as long as there is memory for it.
type planCopy struct {
	bytes.Buffer
	hold    budget.Hold
	dropped bool
}

// Write implements io.Writer. It never fails.
func (c *planCopy) Write(p []byte) (int, error) {
	if c.dropped {
		return len(p), nil
	}
	if !c.hold.TryAcquire(2 * int64(len(p))) { // a buffer that grows has as much room again
		c.drop()
		return len(p), nil
	}
	return c.Buffer.Write(p)
}

func (c *planCopy) drop() {
	c.Buffer, c.dropped = bytes.Buffer{}, true
	c.hold.Release()
}
