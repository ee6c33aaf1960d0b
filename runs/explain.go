package runs

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// explained says of a run that waits behind whom.
func (s *Service) explained(ctx context.Context, run Run) (Run, error) {
	all := []Run{run}
	err := s.explainAll(ctx, run.Org, all)
	return all[0], err
}

// explainAll says of each of an organization's runs that wait for whom, or behind whom. Each line and
// each pool is looked at once.
func (s *Service) explainAll(ctx context.Context, org uuid.UUID, all []Run) error {
	var workspaces []string
	for _, run := range all {
		if run.Status == Pending && run.Kind.Mutates() && !slices.Contains(workspaces, run.Workspace) {
			workspaces = append(workspaces, run.Workspace)
		}
	}
	lines := map[string]Line{}
	if len(workspaces) > 0 {
		var err error
		if lines, err = s.Store.Lines(ctx, org, workspaces); err != nil {
			return err
		}
	}
	executors := map[[2]string]string{} // by pool and workspace
	for i, run := range all {
		if run.Status != Pending {
			continue
		}
		served := [2]string{run.Pool, run.Workspace}
		who, known := executors[served]
		if !known {
			var err error
			if who, err = s.executorFor(ctx, run); err != nil {
				return err
			}
			executors[served] = who
		}
		all[i].Reason = s.waitsFor(run, who, lines[run.Workspace])
	}
	return nil
}

// waitsFor says why a pending run waits.
func (s *Service) waitsFor(run Run, who string, line Line) string {
	if run.NotBefore.After(s.clock()) {
		who = "its time, " + run.NotBefore.Format(time.RFC3339) + ", and for " + who
	}
	if !run.Kind.Mutates() {
		return waitsBehind(who, 0, "")
	}
	return waitsBehind(who, max(slices.Index(line.Waiting, run.ID), 0), line.Holder)
}

// executorFor says who is to execute the run, and why nobody will where that is so.
func (s *Service) executorFor(ctx context.Context, run Run) (string, error) {
	if run.Pool == "" && s.Executes != nil && !s.Executes(run.Org) {
		return "an executor, which there is not: `runs_local = true` in auth.cfg has the server execute runs, `holdfast pool " +
			"create` and `holdfast workspace set --pool` have agents do it", nil
	}
	if run.Pool == "" {
		return "an executor", nil
	}
	who := "an agent of the pool " + run.Pool
	switch err := s.Serves(ctx, run.Org, run.Pool, run.Workspace); {
	case fault.Is(err, fault.PoolNotFound):
		return who + ", which there is not", nil
	case fault.Is(err, fault.PoolOther):
		return who + ", which does not serve this workspace", nil
	default:
		return who, err
	}
}

func waitsBehind(who string, ahead int, holder string) string {
	text := "waits for " + who
	if holder != "" {
		text = "waits behind run " + holder + ", which has the workspace"
	}
	if ahead > 0 {
		text += "; " + number(uint64(ahead)) + " others are first"
	}
	return text
}
