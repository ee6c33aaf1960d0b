package workspace

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
)

// Service is the door to workspaces: every operation names its caller, and touches that caller's
// organization only.
type Service struct {
	Deps
	kinds kinds
}

// Deps is what a Service stands on.
type Deps struct {
	Store Store
	Gate  *audit.Gate
	Audit audit.Recorder
	Seals Seals
	// Runs says what runs need of workspaces; nil for nothing.
	Runs   Runs
	Limits Limits
	Memory *budget.Budget // nil for no bound
	Now    func() time.Time
	Log    *slog.Logger
}

// Seals is what encrypts values. *seal.Sealer is one.
type Seals interface {
	Seal(ctx context.Context, org uuid.UUID, kind seal.Kind, name string, plain []byte) ([]byte, error)
	Open(ctx context.Context, org uuid.UUID, kind seal.Kind, name string, sealed []byte) ([]byte, error)
	Sum(ctx context.Context, org uuid.UUID, kind seal.Kind, data ...[]byte) ([32]byte, error)
}

// Runs is what workspaces need to know of runs.
type Runs interface {
	// Mutating returns the ID of the run that holds the workspace, empty if none does.
	Mutating(ctx context.Context, org uuid.UUID, workspace string) (run string, err error)
	// Paused returns why nothing is tried by itself any more of the workspace as it is; empty where
	// it is.
	Paused(ctx context.Context, w Workspace) (why string, err error)
	// Serves returns why a pool of agents is none that executes the workspace's runs; nil if it
	// is one.
	Serves(ctx context.Context, ref Ref, pool string) error
	// Changed is told after each change of a workspace, what it is now: plans that were made
	// before may be stale. It is told of nothing that the whole organization shares.
	Changed(ctx context.Context, now Workspace)
	// Needed returns the IDs of the snapshots that runs of the workspace still need.
	Needed(ctx context.Context, org uuid.UUID, workspace string) (map[string]bool, error)
}

// NewService returns a service on what it stands on.
func NewService(d Deps) *Service {
	d.Limits = d.Limits.withDefaults()
	return &Service{Deps: d}
}

func (s *Service) clock() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// authorize comes first in every operation on a workspace.
func (s *Service) authorize(ctx context.Context, p auth.Principal, right auth.Right, name state.Name) (Ref, error) {
	if _, err := state.ParseName(string(name)); err != nil {
		return Ref{}, cmp.Or(s.Gate.Authorize(ctx, p, right), err)
	}
	return Ref{Org: p.Org, Name: name}, s.Gate.AuthorizeOn(ctx, p, right, string(name))
}

// Permit returns why the caller may not use a right on the workspace; nil if they may. Every
// operation finds out by itself: this is for who wants to know before a body is read.
func (s *Service) Permit(ctx context.Context, p auth.Principal, right auth.Right, name state.Name) error {
	_, err := s.authorize(ctx, p, right, name)
	return err
}

// serves refuses a pool of agents that is none of the workspace's: its runs would wait for ever.
func (s *Service) serves(ctx context.Context, ref Ref, pool string) error {
	if pool == "" || s.Runs == nil {
		return nil
	}
	return s.Runs.Serves(ctx, ref, pool)
}

// serveChanged is serves of the pool that a change of settings names, if that is another one.
func (s *Service) serveChanged(ctx context.Context, ref Ref, change func(*Settings)) error {
	w, err := s.Store.Workspace(ctx, ref)
	if err != nil {
		return err
	}
	next := w.Settings
	if change(&next); next.Pool == w.Settings.Pool {
		return nil
	}
	return s.serves(ctx, ref, next.Pool)
}

// Create makes a workspace. To make it again with the same settings is accepted and changes
// nothing. Faults: WorkspaceInvalid, WorkspaceExists, WorkspacesFull, PoolNotFound.
func (s *Service) Create(ctx context.Context, p auth.Principal, name state.Name, settings Settings) (Workspace, error) {
	ref, err := s.authorize(ctx, p, auth.WriteWorkspace, name)
	if err != nil {
		return Workspace{}, err
	}
	if err := settings.Check(); err != nil {
		return Workspace{}, err
	}
	if err := mayChange(ctx, s.Gate, p, name, Settings{}, settings); err != nil {
		return Workspace{}, err
	}
	if err := s.serves(ctx, ref, settings.Pool); err != nil {
		return Workspace{}, err
	}
	count, err := s.Store.Count(ctx, p.Org)
	if err != nil {
		return Workspace{}, err
	}
	return s.update(ctx, ref, func(w *Workspace, _ []Variable) (Change, error) {
		switch {
		case w != nil && w.Settings.Equal(settings):
			return Change{}, nil
		case w != nil:
			return Change{}, fault.New(fault.WorkspaceExists, "there is a workspace %q already", name)
		case count >= s.Limits.Workspaces:
			return Change{}, fault.New(fault.WorkspacesFull, "the organization has %d workspaces, and may have no more", count)
		}
		now := s.clock()
		made := Workspace{Settings: settings, CreatedAt: now, UpdatedAt: now, UpdatedBy: ActorOf(p)}
		return Change{Put: &made, Event: s.event(p, ref, ActionCreate, "")}, nil
	})
}

// Get returns a workspace. Fault: WorkspaceNotFound.
func (s *Service) Get(ctx context.Context, p auth.Principal, name state.Name) (Workspace, error) {
	ref, err := s.authorize(ctx, p, auth.ReadWorkspace, name)
	if err != nil {
		return Workspace{}, err
	}
	w, err := s.Store.Workspace(ctx, ref)
	if err == nil && s.Runs != nil {
		w.Paused, err = s.Runs.Paused(ctx, w)
	}
	return w, err
}

// List returns the workspaces that the caller may read by name, up to limit of them, behind
// after, and where to go on; empty at the end. It names no workspace that the caller may not see.
func (s *Service) List(ctx context.Context, p auth.Principal, after string, limit int) ([]Workspace, string, error) {
	if err := s.Gate.Authorize(ctx, p, auth.ReadWorkspace); err != nil {
		return nil, "", err
	}
	if p.States != nil {
		return s.listSome(ctx, p, after, limit)
	}
	page, err := s.Store.Workspaces(ctx, p.Org, after, limit)
	if err != nil || len(page) < limit {
		return page, "", err
	}
	return page, string(page[limit-1].Name), nil
}

// listSome is List for who may see some workspaces only: it passes over all others, as where to go on would be the name
// of one of them.
func (s *Service) listSome(ctx context.Context, p auth.Principal, after string,
	limit int) (shown []Workspace, next string, err error) {
	for {
		page, err := s.Store.Workspaces(ctx, p.Org, after, namedAtOnce)
		if err != nil {
			return nil, "", err
		}
		for _, w := range page {
			switch {
			case !p.States.Match(string(w.Name)):
			case len(shown) == limit:
				return shown, string(shown[limit-1].Name), nil
			default:
				shown = append(shown, w)
			}
		}
		if len(page) < namedAtOnce {
			return shown, "", nil
		}
		after = string(page[namedAtOnce-1].Name)
	}
}

// namedAtOnce is how many workspaces are looked at in one go for some of them.
const namedAtOnce = 500

// Named returns the name of the workspace with an ID, of those that the caller's credentials are for. Which of
// its things the caller may see, is asked with each. Fault: WorkspaceNotFound.
func (s *Service) Named(ctx context.Context, p auth.Principal, id uuid.UUID) (state.Name, error) {
	for after := ""; p.Org != uuid.Nil; {
		page, err := s.Store.Workspaces(ctx, p.Org, after, namedAtOnce)
		if err != nil {
			return "", err
		}
		for _, w := range page {
			if w.ID() == id && p.States.Match(string(w.Name)) {
				return w.Name, nil
			}
		}
		if len(page) < namedAtOnce {
			break
		}
		after = string(page[len(page)-1].Name)
	}
	return "", fault.New(fault.WorkspaceNotFound, "there is no workspace with the ID %s", id)
}

// Configure changes a workspace's settings. Who may not approve can't have it want fewer approvals,
// nor the author's, nor weaken a gate; who may not read a state's outputs can't have runs read them. Faults:
// WorkspaceNotFound, WorkspaceInvalid, PoolNotFound.
func (s *Service) Configure(ctx context.Context, p auth.Principal, name state.Name,
	change func(*Settings)) (Workspace, error) {
	ref, err := s.authorize(ctx, p, auth.WriteWorkspace, name)
	if err != nil {
		return Workspace{}, err
	}
	if err := s.serveChanged(ctx, ref, change); err != nil {
		return Workspace{}, err
	}
	var before, after Settings
	made, err := s.update(ctx, ref, func(w *Workspace, _ []Variable) (Change, error) {
		if w == nil {
			return Change{}, errNotFound(name)
		}
		next := *w
		change(&next.Settings)
		before, after = w.Settings, next.Settings
		if err := cmp.Or(mayChange(ctx, nil, p, name, before, after), after.Check()); err != nil {
			return Change{}, err
		}
		if next.Settings.Equal(w.Settings) {
			return Change{}, nil
		}
		next.UpdatedAt, next.UpdatedBy = s.clock(), ActorOf(p)
		return Change{Put: &next, Event: s.event(p, ref, ActionSettings, "")}, nil
	})
	return made, s.refused(ctx, p, name, before, after, err)
}

// mayChange asks the gate for the rights that a change of settings needs beside WriteWorkspace: whoever has it do
// without approvals may approve, and whoever has its runs read the outputs of other states may read these.
func mayChange(ctx context.Context, gate *audit.Gate, p auth.Principal, name state.Name, before, after Settings) error {
	if after.asksLessThan(before) {
		if err := gate.AuthorizeOn(ctx, p, auth.ApproveRun, string(name)); err != nil {
			return err
		}
	}
	if more := after.readsMore(before); more != nil {
		return gate.AuthorizeOnAll(ctx, p, auth.ReadOutputs, more, string(name))
	}
	return nil
}

// refused puts on record that mayChange has refused somebody.
func (s *Service) refused(ctx context.Context, p auth.Principal, name state.Name, before, after Settings,
	err error) error {
	if err != nil && fault.From(err).Code.Kind() == fault.Forbidden {
		return cmp.Or(mayChange(ctx, s.Gate, p, name, before, after), err)
	}
	return err
}

// Delete takes a workspace away, with its variables and configurations; its state stays. To
// delete it again is accepted. Fault: WorkspaceInUse.
func (s *Service) Delete(ctx context.Context, p auth.Principal, name state.Name) error {
	ref, err := s.authorize(ctx, p, auth.WriteWorkspace, name)
	if err != nil {
		return err
	}
	if s.Runs != nil {
		run, err := s.Runs.Mutating(ctx, p.Org, string(name))
		if err != nil {
			return err
		}
		if run != "" {
			return fault.New(fault.WorkspaceInUse, "run %s of this workspace goes on", run)
		}
	}
	var before Settings
	_, err = s.update(ctx, ref, func(w *Workspace, _ []Variable) (Change, error) {
		if w == nil {
			return Change{}, nil
		}
		// Or else who may not do without approvals makes it anew.
		before = w.Settings
		if err := mayChange(ctx, nil, p, name, before, Settings{}); err != nil {
			return Change{}, err
		}
		return Change{Delete: true, Event: s.event(p, ref, ActionDelete, "")}, nil
	})
	return s.refused(ctx, p, name, before, Settings{}, err)
}

// update has a decision carried out, and its event delivered.
func (s *Service) update(ctx context.Context, ref Ref, decide Decide) (Workspace, error) {
	w, err := s.Store.Update(ctx, ref, decide)
	if err == nil {
		s.Deliver(ctx, ref.Org)
	}
	if err == nil && s.Runs != nil && ref.Name != "" {
		s.Runs.Changed(context.WithoutCancel(ctx), w)
	}
	return w, err
}

func (s *Service) event(p auth.Principal, ref Ref, action audit.Action, note string) *audit.Event {
	return &audit.Event{At: s.clock(), Org: ref.Org, Actor: audit.ActorOf(p), Action: action, State: string(ref.Name),
		Note: note}
}

// deliveries is how many events one call puts into the audit log.
const deliveries = 100

// Deliver puts what was recorded with changes into the audit log. What it can't now, the next
// change or Sweep does: an event may come twice, when the process dies between, but never not.
func (s *Service) Deliver(ctx context.Context, org uuid.UUID) {
	ctx = context.WithoutCancel(ctx)
	events, err := s.Store.Undelivered(ctx, org, deliveries)
	for _, e := range events {
		if err == nil {
			err = s.Audit.Record(ctx, e.Event)
		}
		if err == nil {
			err = s.Store.Forget(ctx, e)
		}
	}
	if err != nil {
		s.Log.WarnContext(ctx, "what was done to workspaces is not in the audit log yet", "error", err)
	}
}

// Sweep does what is left to do: it delivers events, and removes what nothing needs.
func (s *Service) Sweep(ctx context.Context) error {
	s.Deliver(ctx, uuid.Nil)
	return s.Store.Sweep(ctx)
}

// Ready says whether a change would be accepted now. It needs no caller.
func (s *Service) Ready(ctx context.Context) error { return s.Store.Ready(ctx) }
