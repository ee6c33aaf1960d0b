package projects

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/state"
)

// What an answer about a run has at most of each of its parts. The run's own routes have all of it.
const (
	maxLogs  = 2 << 20
	maxPlan  = 4 << 20
	maxTexts = 4 << 20
	logPiece = 256 << 10
	// RunBytes is about what such an answer takes in memory, while it is made and as JSON.
	RunBytes = 3 * (maxLogs + maxPlan + maxTexts + maxInsight)
)

// Run returns a run of a project's with all that is known of it. Faults: RunNotFound, RunInvalid.
func (s *Service) Run(ctx context.Context, p auth.Principal, name state.Name, id string) (api.ProjectRun, error) {
	said, run, err := s.withPlan(ctx, p, name, id)
	if err == nil {
		said.Logs, said.LogsCut, err = s.logs(ctx, p, run)
	}
	return said, err
}

// withPlan returns a run without its log.
func (s *Service) withPlan(ctx context.Context, p auth.Principal, name state.Name,
	id string) (said api.ProjectRun, run runs.Run, err error) {
	if err = s.runsOn(); err != nil {
		return said, run, err
	}
	of, err := s.find(ctx, p, auth.ReadRun, name)
	if err != nil {
		return said, run, err
	}
	if run, err = s.run(ctx, p, name, id); err != nil {
		return said, run, err
	}
	said.ProjectRunBrief = of.brief(run)
	if said.PlanJSON, err = s.plan(ctx, p, run); err != nil {
		return said, run, err
	}
	if said.AISummary, err = s.insight(ctx, p, run); err == nil {
		said.FileSnapshot, said.FilesCut, err = s.texts(ctx, p, run)
	}
	return said, run, err
}

// plan returns what a run's plan changes; nil while there is none, or where it isn't kept any more.
func (s *Service) plan(ctx context.Context, p auth.Principal, run runs.Run) (*api.ProjectPlan, error) {
	content, err := s.Runs.Changes(ctx, p, run.ID)
	if fault.Is(err, fault.RunFileNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	isMasked := !p.SeesValues(run.Workspace)
	raw, err := io.ReadAll(io.LimitReader(content, maxPlan+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxPlan {
		return planOf(api.RunChanges{Cut: true}, isMasked), nil
	}
	var all api.RunChanges
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fault.Wrap(err, fault.StoreCorrupt, "what a run changes can't be read")
	}
	return planOf(all, isMasked), nil
}

// texts returns the files that a run was made with; nil where they are not kept any more, or not for the caller.
func (s *Service) texts(ctx context.Context, p auth.Principal, run runs.Run) (*api.ProjectTexts, bool, error) {
	if p.MayOn(auth.ReadWorkspace, run.Workspace) != nil {
		return nil, false, nil
	}
	entry, err := s.Workspaces.Entry(ctx, p, state.Name(run.Workspace), run.Order.Snapshot)
	if fault.Is(err, fault.SnapshotNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	snapshot, err := s.Workspaces.Snapshot(ctx, p.Org, entry)
	if err != nil {
		return nil, false, err
	}
	all, cut, total := api.ProjectTexts{}, false, int64(0)
	for _, f := range snapshot.Files {
		if total+f.Size > maxTexts {
			cut = true
			continue
		}
		text, inBase64, err := s.content(ctx, p, f)
		if err != nil {
			return nil, false, err
		}
		if inBase64 == "" {
			all[f.Path] = text
			total += f.Size
		}
	}
	return &all, cut, nil
}

// logs returns what the tool has printed of each attempt, of its plan and then of its apply.
func (s *Service) logs(ctx context.Context, p auth.Principal, run runs.Run) (string, bool, error) {
	var text bytes.Buffer
	for at := begin(); ; {
		log, err := s.Runs.ReadLog(ctx, p, run.ID, at.stage, at.attempt, at.offset, logPiece)
		if err != nil {
			return "", false, err
		}
		if text.Len()+len(log.Text) > maxLogs {
			text.Write(log.Text[:maxLogs-text.Len()])
			return strings.ToValidUTF8(text.String(), "\uFFFD"), true, nil
		}
		text.Write(log.Text)
		at.offset = log.End
		if len(log.Text) > 0 {
			continue
		}
		next, ok := at.next(run)
		if !ok {
			return strings.ToValidUTF8(text.String(), "\uFFFD"), false, nil
		}
		at = next
	}
}
