package projects

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/workspace"
)

// Service is the door to projects: every operation names its caller.
type Service struct{ Deps }

// Deps is what a Service stands on.
type Deps struct {
	Workspaces *workspace.Service
	Runs       *runs.Service // nil where the server keeps no runs
	Insights   Insights      // nil where nothing looks at plans
}

// NewService returns a service on what it stands on.
func NewService(d Deps) *Service { return &Service{d} }

// Name returns which workspace a text means: its name, or its ID. Whether there is one, and what the caller may do
// with it, is asked with each operation on it. Faults: NameInvalid, WorkspaceNotFound.
func (s *Service) Name(ctx context.Context, p auth.Principal, text string) (state.Name, error) {
	if id, err := uuid.Parse(text); err == nil && len(text) == len(id.String()) {
		name, err := s.Workspaces.Named(ctx, p, id)
		if !fault.Is(err, fault.WorkspaceNotFound) {
			return name, err
		}
	}
	return state.ParseName(text)
}

// project is a workspace that is there.
type project struct {
	workspace.Workspace
	caller auth.Principal
}

func (p project) id() string { return p.ID().String() }

// find returns a project in which the caller has a right. Fault: WorkspaceNotFound.
func (s *Service) find(ctx context.Context, p auth.Principal, right auth.Right, name state.Name) (project, error) {
	if err := s.Workspaces.Permit(ctx, p, right, name); err != nil {
		return project{}, err
	}
	found, err := s.Workspaces.Workspace(ctx, p.Org, name)
	return project{found, p}, err
}

// PermitRun returns why the caller may not stream a run: one to be made in this mode or, without one, one that is
// there. Begin and Follow find out by themselves: this is for who wants to know before it is looked what was asked.
func (s *Service) PermitRun(ctx context.Context, p auth.Principal, mode string, name state.Name) error {
	_, err := s.find(ctx, p, rightOf(mode), name)
	return err
}

// rightOf is what a run of a mode takes.
func rightOf(mode string) auth.Right {
	switch mode {
	case ModePlan:
		return auth.PlanRun
	case ModeApply:
		return auth.ApplyRun
	}
	return auth.ReadRun
}

// runsOn refuses where the server keeps no runs.
func (s *Service) runsOn() error {
	if s.Runs == nil {
		return fault.New(fault.RunsOff, "this server keeps no runs")
	}
	return nil
}
