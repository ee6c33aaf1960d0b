package runs

import (
	"context"
	"io"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/mask"
)

// PlanJSON is what show -json says of a run's plan, as its executor sent it: with sensitive values
// as they are.
type PlanJSON struct {
	Org       uuid.UUID
	Workspace string
	Digest    string // SHA-256
	Size      int64
	// Open gives its bytes from the first one on, as often as it is called.
	Open func() io.Reader
	// Results is what other programs have found while it was made; nil for nothing. They are as the run's steps have
	// left them: they may add to what is known of the plan, and take nothing away.
	Results *Results
	// Secrets finds the run's secrets in what people are shown of all that; nil for none.
	Secrets *mask.Masker
}

// Results are an api.OtherResults as JSON.
type Results struct {
	Digest string
	Size   int64
	Open   func() io.Reader
}

// PlanJSON returns the JSON of the run's newest plan for whoever may read the run, to be looked at
// within the server and never to be shown as it is. Its fault: RunFileNotFound, also when the plan
// is not kept any more.
func (s *Service) PlanJSON(ctx context.Context, p auth.Principal, id string) (PlanJSON, error) {
	run, err := s.find(ctx, p, auth.ReadRun, id)
	if err != nil {
		return PlanJSON{}, err
	}
	file, err := s.newest(ctx, run.Ref(), FilePlanJSON)
	if err != nil {
		return PlanJSON{}, err
	}
	return s.planJSON(ctx, run, file)
}

func (s *Service) planJSON(ctx context.Context, run Run, file File) (PlanJSON, error) {
	masker, err := s.maskerOf(ctx, run)
	if err != nil {
		return PlanJSON{}, err
	}
	plan := PlanJSON{Org: file.Org, Workspace: run.Workspace, Digest: file.Digest, Size: file.Size, Secrets: masker,
		Open: func() io.Reader { return s.open(ctx, file) }}
	results, err := s.Store.FileOf(ctx, FileRef{run.Ref(), FileResults, file.Attempt})
	if err == nil {
		plan.Results = &Results{results.Digest, results.Size, func() io.Reader { return s.open(ctx, results) }}
	}
	return plan, ignore(err, fault.RunFileNotFound)
}
