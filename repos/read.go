package repos

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/repos/gitmirror"
)

// At returns this process's mirror of a repository, which has the commit: it is fetched if it isn't there, and so are
// its submodules where the repository wants them. It is for the server itself, which has asked the gate before. Faults:
// RepositoryNotFound, RepositoryFailed, CommitNotFound.
func (s *Service) At(ctx context.Context, org uuid.UUID, name, commit string) (*gitmirror.Mirror, error) {
	if !gitmirror.IsCommit(commit) {
		return nil, fault.New(fault.CommitNotFound, "%.80q is not the whole hash of a commit", commit)
	}
	r, err := s.find(ctx, org, name)
	if err != nil {
		return nil, err
	}
	m, err := s.mirror(r.ID)
	if err != nil {
		return nil, err
	}
	if there, err := m.Has(ctx, commit); err != nil || !there {
		if _, err := s.fetch(ctx, r, nil); err != nil {
			return nil, err
		}
		there, err := m.Has(ctx, commit)
		if err == nil && !there {
			err = fault.New(fault.CommitNotFound, "the repository %s has no commit %s on its branches", name, commit)
		}
		if err != nil {
			return nil, Explain(name, err)
		}
	}
	m, err = s.inside(ctx, r, m, commit, false)
	return m, Explain(name, err)
}

// Snapshot writes files of a commit as a tar.gz, as workspaces take configurations. It is for the server itself.
// Faults:
// those of At, and of what Archive refuses: CommitNotFound, FilesTooLarge, ArchiveEntry.
func (s *Service) Snapshot(ctx context.Context, org uuid.UUID, name, commit string, a gitmirror.Archiving,
	w io.Writer) error {
	packed := gzip.NewWriter(w)
	if err := s.Archive(ctx, org, name, commit, a, packed); err != nil {
		return err
	}
	return packed.Close()
}

// Into hands files of a commit to put as a tar.gz, which is how a workspace takes a configuration:
//
//	err := service.Into(ctx, org, "infra", commit, a, func(archive io.Reader) error {
//		_, err := workspaces.PushArchive(ctx, p, name, archive, message, nil)
//		return err
//	})
//
// It is for the server itself. Where the commit can't be had whole, put reads an error and not the end, so that
// nothing is
// made of a half. Faults: those of Snapshot and of put.
func (s *Service) Into(ctx context.Context, org uuid.UUID, name, commit string, a gitmirror.Archiving,
	put func(archive io.Reader) error) error {
	read, write := io.Pipe()
	made := make(chan error, 1)
	go func() {
		err := s.Snapshot(ctx, org, name, commit, a, write)
		_ = write.CloseWithError(err)
		made <- err
	}()
	err := put(read)
	_ = read.CloseWithError(io.ErrClosedPipe) // nobody reads what is left
	failed := <-made
	if failed != nil && !errors.Is(failed, io.ErrClosedPipe) {
		return failed // it says more than what put made of it
	}
	return err
}

// Explain makes a fault of an error of a mirror.
func Explain(name string, err error) error {
	failed, ok := errors.AsType[*gitmirror.Error](err)
	if !ok {
		return err
	}
	code := fault.RepositoryFailed
	switch failed.Kind {
	case gitmirror.NotThere:
		code = fault.CommitNotFound
	case gitmirror.TooLarge:
		code = fault.FilesTooLarge
	case gitmirror.Hostile:
		code = fault.ArchiveEntry
	}
	return fault.Wrap(err, code, "the repository %s: %s", name, failed.Text)
}

// sweepMirrors removes the mirrors of repositories that are gone.
func (s *Service) sweepMirrors(ctx context.Context) error {
	entries, err := os.ReadDir(s.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		id, err := uuid.Parse(e.Name())
		if err != nil {
			continue
		}
		_, err = s.Store.ByID(ctx, id)
		switch {
		case fault.Is(err, fault.RepositoryNotFound):
			s.dropMirror(ctx, id)
		case err != nil:
			return err
		}
	}
	return nil
}

func (s *Service) dropMirror(ctx context.Context, id uuid.UUID) {
	m, err := s.mirror(id)
	if err == nil {
		err = m.Remove(ctx)
	}
	if err == nil {
		err = os.RemoveAll(filepath.Join(s.Folder, id.String()))
	}
	if err != nil {
		s.Log.WarnContext(ctx, "a mirror of a repository that is gone can't be removed", "folder", id, "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.mirrors, id)
	delete(s.modules, id)
}
