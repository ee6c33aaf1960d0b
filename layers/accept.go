package layers

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// Discovery is what a repository has.
type Discovery struct {
	Commit Commit
	Layers []Offered
}

// Offered is a layer that was found, and what there is of it.
type Offered struct {
	Found
	Status string // new, changed or same
}

// What an offered layer is.
const (
	IsNew     = "new"
	IsChanged = "changed"
	IsSame    = "same"
)

// Discover finds the layers of a branch's newest commit, by holdfast.yaml or by a pattern of folders; nothing is
// stored.
// What is wrong with the file is a fault.LayerInvalid with all of it in its details.
func (s *Service) Discover(ctx context.Context, p auth.Principal, repository, branch, pattern string) (Discovery,
	error) {
	if err := s.Gate.Authorize(ctx, p, auth.ReadWorkspace); err != nil {
		return Discovery{}, err
	}
	branch = cmp.Or(branch, Defaults().Branch)
	head, _, err := s.Repositories.Head(ctx, p.Org, repository, branch)
	if err != nil {
		return Discovery{}, err
	}
	all := Discovery{Commit: head}
	var found []Found
	err = s.Repositories.Read(ctx, p.Org, repository, head.ID, func(tree fs.FS) (err error) {
		found, err = Discover(tree, repository, branch, pattern)
		return err
	})
	if faults, ok := errors.AsType[Faults](err); ok {
		return Discovery{}, faults.fault()
	}
	if err != nil {
		return Discovery{}, err
	}
	there, err := s.settingsOf(ctx, p)
	if err != nil {
		return Discovery{}, err
	}
	for _, f := range found {
		if !p.States.Match(f.Name) {
			continue
		}
		was, ok := there[f.Name]
		status, err := s.statusOf(ctx, p, f, was, ok)
		if err != nil {
			return Discovery{}, err
		}
		all.Layers = append(all.Layers, Offered{f, status})
	}
	return all, nil
}

// statusOf says whether accepting a layer changes it or its workspace.
func (s *Service) statusOf(ctx context.Context, p auth.Principal, f Found, was Settings, there bool) (string, error) {
	if !there {
		return IsNew, nil
	}
	if !was.equal(f.Settings) {
		return IsChanged, nil
	}
	has, err := s.Workspaces.Tooling(ctx, p, f.Name)
	if err != nil || !f.Tooling.changes(has) {
		return IsSame, err
	}
	return IsChanged, nil
}

// fault has every one of them.
func (f Faults) fault() error {
	const shown = 100
	made := fault.New(fault.LayerInvalid, "%s", f[:min(len(f), shown)].Error())
	for _, one := range f[:min(len(f), shown)] {
		made.Details = append(made.Details, fault.Detail{Pointer: one.String(), Rule: one.Text})
	}
	return made
}

func (s *Service) settingsOf(ctx context.Context, p auth.Principal) (map[string]Settings, error) {
	all := map[string]Settings{}
	for after := ""; ; {
		page, next, err := s.List(ctx, p, Query{After: after, Limit: 500})
		if err != nil {
			return nil, err
		}
		for _, l := range page {
			all[l.Name] = l.Settings
		}
		if after = next; next == "" {
			return all, nil
		}
	}
}

// Accept makes or changes the layers of a discovery that are named. Those that are as they were found stay as they are;
// what was accepted before a fault stays accepted.
func (s *Service) Accept(ctx context.Context, p auth.Principal, found Discovery, names []string) error {
	for _, name := range names {
		i := slices.IndexFunc(found.Layers, func(o Offered) bool { return o.Name == name })
		if i < 0 {
			return fault.New(fault.LayerNotFound, "the repository has no layer %q", name)
		}
		o := found.Layers[i]
		made := New{Name: o.Name, Tooling: o.Tooling, Settings: o.Settings}
		if _, err := s.put(ctx, p, made, true); err != nil {
			return err
		}
	}
	return nil
}
