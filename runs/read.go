package runs

import (
	"context"
	"io"
	"slices"
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
	page.Runs = slices.DeleteFunc(page.Runs, func(run Run) bool { return !p.States.Match(run.Workspace) })
	if err := s.explainAll(ctx, p.Org, page.Runs); err != nil {
		return Page{}, err
	}
	for i, run := range page.Runs {
		page.Runs[i] = s.seen(p, run)
	}
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
