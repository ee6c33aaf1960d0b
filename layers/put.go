package layers

import (
	"context"
	"errors"
	"slices"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// put makes a layer what it is to be, or changes it where it may be there already.
func (s *Service) put(ctx context.Context, p auth.Principal, n New, replace bool) (Layer, error) {
	for _, right := range []auth.Right{auth.WriteWorkspace, n.Settings.Remediation.right()} {
		if err := s.Gate.AuthorizeOn(ctx, p, right, n.Name); err != nil {
			return Layer{}, err
		}
	}
	if err := n.Settings.Check(); err != nil {
		return Layer{}, err
	}
	if _, _, err := s.Repositories.Head(ctx, p.Org, n.Settings.Repository, n.Settings.Branch); err != nil {
		return Layer{}, err
	}
	count, err := s.Store.Count(ctx, p.Org)
	if err != nil {
		return Layer{}, err
	}
	ref := Ref{p.Org, n.Name}
	decide := func(l *Layer) (Change, error) {
		if err := s.refused(l, n, replace, count); err != nil || l != nil && l.Settings.equal(n.Settings) {
			return Change{}, err
		}
		now, action := s.clock(), audit.LayerCreate
		if l != nil {
			action = audit.LayerChange
			l.set(n.Settings)
		} else {
			l = &Layer{Settings: n.Settings, CreatedAt: now, State: PlanNeeded, Says: "it was not looked at yet"}
		}
		l.Due, l.UpdatedAt, l.UpdatedBy = now, now, ActorOf(p)
		return Change{Put: l, Audit: s.entry(p, action, n.Name, "")}, nil
	}
	// What would be refused changes no workspace.
	if err := s.asked(ctx, ref, decide); err != nil {
		return Layer{}, err
	}
	if err := s.Workspaces.Make(ctx, p, n.Name, n.Tooling, n.Settings.folder()); err != nil {
		return Layer{}, err
	}
	made, err := s.Store.Update(ctx, ref, decide)
	if err != nil { // another change came between: the workspace is to be as that one wants it
		if failed := s.restored(ctx, p, ref); failed != nil {
			err = errors.Join(err, failed)
		}
	}
	return s.acted(ctx, p, made, err)
}

// refused is why a layer can't be made or changed; nil if it can.
func (s *Service) refused(l *Layer, n New, replace bool, count int) error {
	switch {
	case l != nil && l.Settings.equal(n.Settings):
		return nil
	case l != nil && !replace:
		return errExists(n.Name)
	case n.was != nil && l == nil:
		return fault.New(fault.LayerNotFound, "there is no layer %q", n.Name)
	case n.was != nil && !l.Settings.equal(*n.was):
		return fault.New(fault.ChangedMeanwhile, "others change the layer at this moment; try again")
	case l == nil && count >= s.MaxLayers:
		return fault.New(fault.LayersFull, "the organization has %d layers, and may have no more", count)
	}
	return nil
}

// asked is the error that a decision would have now.
func (s *Service) asked(ctx context.Context, ref Ref, decide Decision) error {
	there, err := s.Store.Layer(ctx, ref)
	switch {
	case fault.Is(err, fault.LayerNotFound):
		_, err = decide(nil)
	case err == nil:
		_, err = decide(&there)
	}
	return err
}

// restored gives the workspace of a layer the folder that the layer has.
func (s *Service) restored(ctx context.Context, p auth.Principal, ref Ref) error {
	there, err := s.Store.Layer(ctx, ref)
	if err != nil {
		return ignoreGone(err)
	}
	return s.Workspaces.Make(ctx, p, ref.Name, Tooling{}, there.Settings.folder())
}

// folder is the one that the workspace's tool works in.
func (s Settings) folder() string {
	if s.Path == "." {
		return ""
	}
	return s.Path
}

func errExists(name string) error {
	return fault.New(fault.LayerExists, "there is a layer %q already", name)
}

// set changes the settings. What comes from another place was never looked at.
func (l *Layer) set(settings Settings) {
	was := l.Settings
	if l.Settings = settings; was.Repository != settings.Repository || was.Branch != settings.Branch ||
		was.Path != settings.Path {
		l.Facts.Branch, l.Facts.Relevant, l.Facts.Failures, l.Facts.Stale = Commit{}, Commit{}, Failures{}, Staleness{}
	}
}

func (s Settings) equal(other Settings) bool {
	return slices.Equal(s.Triggers, other.Triggers) && slices.Equal(s.Ignore, other.Ignore) &&
		slices.EqualFunc(s.Windows, other.Windows, func(a, b Window) bool {
			return a.Kind == b.Kind && a.Schedule == b.Schedule && a.Zone == b.Zone && a.Duration == b.Duration &&
				slices.Equal(a.Actions, b.Actions)
		}) && s.Repository == other.Repository && s.Branch == other.Branch && s.Path == other.Path &&
		s.Remediation == other.Remediation && s.MaxChanges == other.MaxChanges && s.Retries == other.Retries &&
		s.Drift == other.Drift
}
