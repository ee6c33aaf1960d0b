package layers

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/layers/relevance"
)

// Definitions returns the layers of a repository's branch, each with all that says which paths change it, as one
// text. It is for the server itself.
func (s *Service) Definitions(ctx context.Context, org uuid.UUID, repository, branch string) (
	map[string]string, error,
) {
	all, err := s.layersOf(ctx, Layer{Ref: Ref{Org: org}, Settings: Settings{Repository: repository, Branch: branch}})
	known := make(map[string]string, len(all))
	for _, one := range all {
		known[one.Name] = fmt.Sprintf("%q %q", one.Path, one.Triggers)
	}
	return known, err
}

// ChangedAt returns the layers of a repository's branch that paths of a commit mean something to: all of them
// where the paths are not all there are. It is for the server itself, which has asked the gate before.
func (s *Service) ChangedAt(ctx context.Context, org uuid.UUID, repository, branch, commit string, paths []string,
	all bool) (names []string, err error) {
	of := Layer{Ref: Ref{Org: org}, Settings: Settings{Repository: repository, Branch: branch}}
	known, err := s.layersOf(ctx, of)
	if err != nil || len(known) == 0 {
		return nil, err
	}
	if !all {
		for _, one := range known {
			names = append(names, one.Name)
		}
		return names, nil
	}
	found, err := s.readBy(ctx, org, repository, commit, known, paths)
	return slices.Sorted(maps.Keys(found)), err
}

// ChangedSince returns the layers of a repository's branch that differ between two of its commits, each with the first
// path that does: by what they read there, or at a head that is to be merged into it. It is ErrApart where that can't
// be told. It is for the server itself.
func (s *Service) ChangedSince(ctx context.Context, org uuid.UUID, repository, branch, from, to, head string) (
	map[string]string, error) {
	known, err := s.layersOf(ctx, Layer{Ref: Ref{Org: org}, Settings: Settings{Repository: repository, Branch: branch}})
	if err != nil || len(known) == 0 {
		return nil, err
	}
	paths, err := s.Repositories.Differences(ctx, org, repository, from, to)
	if err != nil {
		return nil, err
	}
	found, err := s.readBy(ctx, org, repository, head, known, paths)
	if err != nil {
		return nil, err
	}
	there, err := s.readBy(ctx, org, repository, to, known, paths)
	maps.Copy(found, there)
	return found, err
}

// readBy returns the layers that read one of the paths at a commit, each with the first of them.
func (s *Service) readBy(ctx context.Context, org uuid.UUID, repository, commit string, known []relevance.Layer,
	paths []string) (map[string]string, error) {
	found := map[string]string{}
	err := s.Repositories.Read(ctx, org, repository, commit, func(tree fs.FS) error {
		index, err := relevance.Build(ctx, tree, known)
		if err != nil {
			return err
		}
		for name, verdict := range index.Relevant(paths) {
			if verdict.Relevant {
				found[name] = verdict.Path
			}
		}
		return nil
	})
	return found, err
}

// WriteAt writes what a layer's configuration is made of at a commit as a tar. It is for the server itself.
func (s *Service) WriteAt(ctx context.Context, org uuid.UUID, name, commit string, w io.Writer) error {
	l, err := s.Store.Layer(ctx, Ref{Org: org, Name: name})
	if err != nil {
		return err
	}
	folders, files, err := s.reads(ctx, l, commit)
	if err != nil {
		return err
	}
	return s.Repositories.Archive(ctx, org, l.Settings.Repository, commit, folders, files, w)
}
