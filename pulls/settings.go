package pulls

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// ActionSettings is that somebody has changed what a repository wants of pull requests.
const ActionSettings audit.Action = "pulls.settings"

// Check returns what is wrong with the settings, as a fault.ParameterInvalid.
func (s Settings) Check() error {
	for name, value := range map[string]string{"plan": s.Plan, "apply": s.Apply} {
		if value != "" && value != "write" && value != "admin" {
			return fault.New(fault.ParameterInvalid, "%s is write or admin, and not %.40q", name, value)
		}
	}
	if s.Apply != "" && s.Off() {
		return fault.New(fault.ParameterInvalid, "what is not planned can't be applied: say who has it planned")
	}
	if len(s.Branch) > 255 {
		return fault.New(fault.ParameterInvalid, "the name of a branch has at most 255 bytes")
	}
	return nil
}

// SettingsOf returns what a repository wants of pull requests.
func (s *Service) SettingsOf(ctx context.Context, p auth.Principal, repository string) (Settings, error) {
	if err := s.Gate.Authorize(ctx, p, auth.ReadRepository); err != nil {
		return Settings{}, err
	}
	if err := s.Repositories.Known(ctx, p.Org, repository); err != nil {
		return Settings{}, err
	}
	return s.Store.Settings(ctx, p.Org, repository)
}

// Configure says what a repository wants of pull requests. To have them planned, or applied by comments, takes the
// right to approve: it says yes for all that come.
func (s *Service) Configure(ctx context.Context, p auth.Principal, repository string, set Settings) error {
	if err := s.Gate.AuthorizeAll(ctx, p, auth.WriteRepository, "workspaces"); err != nil {
		return err
	}
	if !set.Off() {
		if err := s.Gate.Authorize(ctx, p, auth.ApproveRun); err != nil {
			return err
		}
	}
	if err := set.Check(); err != nil {
		return err
	}
	if err := s.Repositories.Known(ctx, p.Org, repository); err != nil {
		return err
	}
	event := audit.Event{At: s.clock(), Org: p.Org, Actor: audit.ActorOf(p), Action: ActionSettings,
		Note: "repository " + repository}
	return audit.Before(ctx, s.Audit, event, func() error {
		if err := s.Store.SetSettings(ctx, p.Org, repository, set); err != nil {
			return err
		}
		return s.wake(ctx, p.Org, repository)
	})
}

// wake has the open pull requests of a repository looked at, as far as they are known.
func (s *Service) wake(ctx context.Context, org uuid.UUID, repository string) error {
	known, err := s.Store.Pulls(ctx, org, repository, maxDue)
	for _, p := range known {
		if err == nil && !p.Closed {
			err = s.Hint(ctx, p.Ref)
		}
	}
	return err
}
