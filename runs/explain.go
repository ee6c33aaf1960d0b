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
	executors := map[[2]string]awaited{} // by pool and workspace
	idle := map[string]string{}          // by pool
	unattended := func(pool string) (why string, err error) {
		why, known := idle[pool]
		if !known {
			why, err = s.unattended(ctx, org, pool)
			idle[pool] = why
		}
		return why, err
	}
	for i, run := range all {
		if run.Status != Pending && (run.Status != Confirmed || run.Reason != "") {
			continue
		}
		served := [2]string{run.Pool, run.Workspace}
		who, known := executors[served]
		if !known {
			var err error
			if who, err = s.executorFor(ctx, run, unattended); err != nil {
				return err
			}
			executors[served] = who
		}
		switch {
		case run.Status == Pending:
			all[i].Reason = s.waitsFor(run, who.text+who.missing, lines[run.Workspace])
		case who.missing != "":
			all[i].Reason = "waits for " + who.text + who.missing
		}
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

// Nobody says of a run that waits to be executed why nobody will, and what to do; empty where somebody may.
func (s *Service) Nobody(ctx context.Context, run Run) (string, error) {
	if run.Status != Pending && run.Status != Confirmed {
		return "", nil
	}
	who, err := s.executorFor(ctx, run, func(pool string) (string, error) { return s.unattended(ctx, run.Org, pool) })
	if err != nil || who.missing == "" {
		return "", err
	}
	return "waits for " + who.text + who.missing, nil
}

// awaited is who is to execute a run, and why nobody will, where that is so.
type awaited struct{ text, missing string }

func (s *Service) executorFor(ctx context.Context, run Run, unattended func(pool string) (string, error)) (who awaited,
	err error) {
	if run.Pool == "" && s.Executes != nil && !s.Executes(run.Org) {
		return awaited{"an executor", ", which there is not: `runs_local = true` in auth.cfg has the server execute runs, " +
			"`holdfast pool create` and `holdfast workspace set --pool` have agents do it"}, nil
	}
	if run.Pool == "" {
		return awaited{text: "an executor"}, nil
	}
	who.text = "an agent of the pool " + run.Pool
	switch err = s.Serves(ctx, run.Org, run.Pool, run.Workspace); {
	case fault.Is(err, fault.PoolNotFound):
		return awaited{who.text, ", which there is not"}, nil
	case fault.Is(err, fault.PoolOther):
		return awaited{who.text, ", which does not serve this workspace"}, nil
	case err != nil:
		return who, err
	}
	who.missing, err = unattended(run.Pool)
	return who, err
}

// unattended says of a pool that serves a workspace that no agent of it asks for work, and what to do; empty where one
// does.
func (s *Service) unattended(ctx context.Context, org uuid.UUID, name string) (string, error) {
	pools, err := s.Store.PoolsNamed(ctx, name, []uuid.UUID{org})
	if err != nil || len(pools) == 0 {
		return "", err
	}
	owner, whose := org, "with the pool's token starts one"
	if pools[0].isLent() {
		owner, whose = pools[0].Lender, "is for the organization that lends the pool to start"
	}
	agents, err := s.Store.AgentsOf(ctx, owner)
	if err != nil {
		return "", err
	}
	agents = slices.DeleteFunc(agents, func(a Agent) bool { return a.Pool != name || a.Draining })
	if len(agents) == 0 {
		return ", which has none: `holdfast agent` " + whose, nil
	}
	seen := slices.MaxFunc(agents, func(a, b Agent) int { return a.Seen.Compare(b.Seen) }).Seen
	if s.clock().Sub(seen) <= AgentSilence {
		return "", nil
	}
	return ", none of which has asked for work since " + seen.UTC().Format(time.RFC3339) +
		": they are busy, or gone, and `holdfast agent` " + whose, nil
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
