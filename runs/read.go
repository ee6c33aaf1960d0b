package runs

import (
	"context"
	"io"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// Get returns a run. Its fault: RunNotFound.
func (s *Service) Get(ctx context.Context, p auth.Principal, id string) (Run, error) {
	run, err := s.find(ctx, p, auth.ReadRun, id)
	if err != nil {
		return Run{}, err
	}
	run, err = s.explained(ctx, run)
	return s.seen(p, run), err
}

// explained says of a run that waits behind whom.
func (s *Service) explained(ctx context.Context, run Run) (Run, error) {
	switch {
	case run.Status != Pending:
		return run, nil
	case !run.Kind.Mutates():
		return s.waits(ctx, run, 0, "")
	}
	ahead, holder, err := s.Store.Position(ctx, run)
	if err != nil {
		return run, err
	}
	return s.waits(ctx, run, ahead, holder)
}

func (s *Service) waits(ctx context.Context, run Run, ahead int, holder string) (Run, error) {
	who, err := s.executorFor(ctx, run)
	if run.NotBefore.After(s.clock()) {
		who = "its time, " + run.NotBefore.Format(time.RFC3339) + ", and for " + who
	}
	run.Reason = waitsBehind(who, ahead, holder)
	return run, err
}

// executorFor says who is to execute the run, and why nobody will where that is so.
func (s *Service) executorFor(ctx context.Context, run Run) (string, error) {
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

// List returns an organization's runs, the newest first: those of workspaces that the caller may
// see. A page may have fewer runs than its limit, and still be followed by more.
func (s *Service) List(ctx context.Context, p auth.Principal, q Query) (Page, error) {
	if err := s.Gate.Authorize(ctx, p, auth.ReadRun); err != nil {
		return Page{}, err
	}
	q.Org = p.Org
	page, err := s.Store.List(ctx, q)
	if err != nil {
		return Page{}, err
	}
	seen := page.Runs[:0]
	for _, run := range page.Runs {
		if p.States.Match(run.Workspace) {
			seen = append(seen, s.seen(p, run))
		}
	}
	page.Runs = seen
	return page, nil
}

// Events returns what happened to a run, from behind a sequence.
func (s *Service) Events(ctx context.Context, p auth.Principal, id string, after int64, limit int) ([]Event, error) {
	run, err := s.find(ctx, p, auth.ReadRun, id)
	if err != nil {
		return nil, err
	}
	all, err := s.Store.Events(ctx, run.Ref(), after, limit)
	return s.seenEvents(p, run, all), err
}

// Changes opens what the run's plan would change, with sensitive values masked: an
// api.RunChanges. Its fault: RunFileNotFound.
func (s *Service) Changes(ctx context.Context, p auth.Principal, id string) (io.Reader, error) {
	run, err := s.find(ctx, p, auth.ReadRun, id)
	if err != nil {
		return nil, err
	}
	file, err := s.newest(ctx, run.Ref(), FileChanges)
	if err != nil {
		return nil, err
	}
	return s.seenChanges(p, run, s.open(ctx, file))
}

// newest returns the last attempt's file of a kind.
func (s *Service) newest(ctx context.Context, ref Ref, kind FileKind) (File, error) {
	files, err := s.Store.FilesOf(ctx, ref)
	if err != nil {
		return File{}, err
	}
	var newest File
	for _, f := range files {
		if f.Kind == kind && f.Attempt > newest.Attempt {
			newest = f
		}
	}
	if newest.Attempt == 0 {
		return File{}, fault.New(fault.RunFileNotFound, "the run has no %s", kind)
	}
	return newest, nil
}

// Outcomes counts the runs that have ended, by day and how; of nothing for a caller who may see some
// workspaces only: the counts are of all.
func (s *Service) Outcomes(ctx context.Context, p auth.Principal, from, to time.Time) ([]Outcome, error) {
	if err := s.Gate.Authorize(ctx, p, auth.ReadRun); err != nil || p.States != nil {
		return nil, err
	}
	return s.Store.Outcomes(ctx, p.Org, from, to)
}
