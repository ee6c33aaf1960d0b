package repos

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/repos/gitmirror"
	"github.com/holdfast/holdfast/repos/lfs"
)

// Archive writes files of a commit as a tar, with the files of Git LFS in the places of their pointers where the
// repository wants that. It is for the server itself. Faults: those of Snapshot.
func (s *Service) Archive(ctx context.Context, org uuid.UUID, name, commit string, a gitmirror.Archiving,
	w io.Writer) error {
	m, err := s.At(ctx, org, name, commit)
	if err != nil {
		return err
	}
	r, err := s.find(ctx, org, name)
	if err != nil {
		return err
	}
	if r.Settings.LFS {
		files := &largeFiles{s: s, repository: r, folder: s.largeFolder(r.ID)}
		defer files.close()
		a.Large = files.open
	}
	return Explain(name, m.Archive(ctx, commit, a, w))
}

// largeFiles are those of Git LFS that an archive has: a client for all of them, made when the first one is missing.
type largeFiles struct {
	s          *Service
	repository Repository
	folder     string
	client     *lfs.Client
}

func (l *largeFiles) close() {
	if l.client != nil {
		l.client.Close()
	}
}

// open opens a file, which is downloaded if this process has it not.
func (l *largeFiles) open(ctx context.Context, f gitmirror.Large) (io.ReadCloser, error) {
	path := filepath.Join(l.folder, f.Digest)
	if kept, err := os.Open(path); err == nil {
		return kept, nil
	}
	if err := l.s.roomFor(l.folder, f.Size); err != nil {
		return nil, err
	}
	release, err := l.s.workers.Acquire(ctx, l.repository.Org)
	if err != nil {
		return nil, err
	}
	defer release()
	if l.client == nil {
		if l.client, err = l.s.lfsClient(ctx, l.repository); err != nil {
			return nil, err
		}
	}
	if err := l.download(ctx, f, path); err != nil {
		return nil, err
	}
	return os.Open(path)
}

// download has a file be there whole or not at all.
func (l *largeFiles) download(ctx context.Context, f gitmirror.Large, path string) (err error) {
	to, err := os.CreateTemp(l.folder, "coming-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(to.Name()) }() // unless it has its name by then
	err = l.client.Download(ctx, lfs.File(f), to)
	if closed := to.Close(); err == nil {
		err = closed
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return &gitmirror.Error{Kind: kindOfLarge(err), Text: err.Error()}
	}
	return os.Rename(to.Name(), path)
}

func kindOfLarge(err error) gitmirror.Kind {
	status, ok := errors.AsType[*lfs.StatusError](err)
	if ok && (status.Status == 401 || status.Status == 403) {
		return gitmirror.LoginRefused
	}
	return gitmirror.Unreachable
}

func (s *Service) lfsClient(ctx context.Context, r Repository) (*lfs.Client, error) {
	remote, err := gitmirror.ParseURL(r.Settings.URL, s.AllowHTTP)
	if err != nil {
		return nil, err
	}
	if remote.Scheme == "ssh" {
		return nil, &gitmirror.Error{Kind: gitmirror.AddressInvalid, Text: "they are downloaded by https, and the repository has an ssh URL"}
	}
	credentials, err := s.gitCredentials(ctx, r)
	if err != nil {
		return nil, err
	}
	return lfs.New(lfs.Config{URL: remote.String(), User: cmp.Or(credentials.User, "x-access-token"),
		Token: credentials.Token, Allowed: s.Allowed, AllowHTTP: s.AllowHTTP, CAFile: s.CAFile, Timeout: s.Limits.Git.Fetch})
}

// roomFor makes the folder of files, and room for one more: together they have half of what a mirror may have.
func (s *Service) roomFor(folder string, size int64) error {
	most := s.Limits.Git.Bytes / 2
	if size > most {
		return &gitmirror.Error{Kind: gitmirror.TooLarge, Text: "it is larger than all of them may be together"}
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	taken, err := bytesIn(folder)
	if err != nil || taken+size <= most {
		return err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries { // who reads one goes on
		if err := os.Remove(filepath.Join(folder, e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// largeFolder is where a repository's files are.
func (s *Service) largeFolder(id uuid.UUID) string {
	return filepath.Join(s.Folder, id.String(), "lfs")
}

// bytesIn returns how much room the files of a folder take, which need not be there.
func bytesIn(folder string) (total int64, err error) {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // or it is gone
			total += info.Size()
		}
	}
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	return total, err
}
