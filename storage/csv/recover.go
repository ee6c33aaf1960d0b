package csv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/csv/index"
	"github.com/holdfast/holdfast/storage/folder"
)

// recover compares the length of every file with the index, and lists the files that it
// does not know. A file that it can't put right is left to its organization's first use,
// which refuses it, or tries again if it was the disk's fault; the others go on.
func (s *Store) recover(ctx context.Context) error {
	known := map[uuid.UUID]bool{}
	for after := ""; ; {
		entries, err := s.index.List(ctx, after, 1000)
		if err != nil {
			return fmt.Errorf("read the index: %w", err)
		}
		for _, e := range entries {
			known[e.Org], after = true, e.Org.String()
			if err := s.recoverFile(ctx, e); err != nil {
				s.log.ErrorContext(ctx, "upload file not recovered", "org", e.Org, "err", err)
				if isDisks(err) {
					s.unmended[e.Org] = e
				}
			}
		}
		if len(entries) == 0 {
			return s.findForeign(ctx, known)
		}
	}
}

func (s *Store) recoverFile(ctx context.Context, e index.Entry) error {
	now, err := lookAt(s.path(e.Org))
	kept, errOfKept := lookAt(s.path(e.Org) + keptMark)
	switch {
	case err != nil || errOfKept != nil:
		return cmp.Or(err, errOfKept)
	case kept.exists:
		return errors.New("the copy of what stays of it is not in its place")
	case now.plain && now.size > e.Size():
		return s.recoverTail(ctx, e)
	case now.size < e.Size():
		return fmt.Errorf("the file has %d bytes, but %d were recorded", now.size, e.Size())
	}
	return nil
}

// recoverTail cuts off what a crash left. If the bytes before it are not those that were
// recorded, somebody has inserted a row: then the tail is made of good rows, and stays.
func (s *Store) recoverTail(ctx context.Context, e index.Entry) error {
	t := s.tenants.acquire(e.Org)
	defer s.tenants.release(t)
	last, err := s.index.Last(ctx, e.ID, e.Length)
	if err != nil {
		return err
	}
	same, err := t.matches(piecewise{ctx, t, e.Base}, last.Start, last.Length, last.CRC)
	if err != nil {
		return err
	}
	if !same {
		return errors.New("the file is longer than recorded, and what stands before is not what was recorded")
	}
	return s.setAside(e.Org, e.Size())
}

func (s *Store) findForeign(ctx context.Context, known map[uuid.UUID]bool) error {
	dir, err := os.Open(s.dir)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	for {
		names, err := dir.Readdirnames(1000)
		for _, name := range names {
			if org, ok := organizationOf(name); ok && !known[org] {
				s.foreign[org] = true
				s.log.InfoContext(ctx, "upload file found that is not in the index; it is read on first use", "org", org)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// adopted takes the organization off the list of foreign files.
func (s *Store) adopted(org uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.foreign, org)
}

// tornMark comes behind the name of the file of which something was kept aside.
const tornMark = ".torn-"

// setAside copies what the file has behind its size to a file of its own, and cuts it off.
func (s *Store) setAside(org uuid.UUID, size int64) (err error) {
	f, err := os.OpenFile(s.path(org), os.O_RDWR, 0)
	if err != nil {
		return fileError(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	aside, n, err := s.copyTail(f, org, size)
	if err != nil {
		return fmt.Errorf("keep a torn tail aside: %w", fileError(err))
	}
	if err := f.Truncate(size); err != nil {
		return fileError(err)
	}
	if err := f.Sync(); err != nil {
		return fileError(err)
	}
	s.log.Warn("upload file had a torn tail, which was never acknowledged; it was cut off and kept aside",
		"org", org, "bytes", n, "kept", filepath.Base(aside))
	return nil
}

func (s *Store) copyTail(f *os.File, org uuid.UUID, size int64) (name string, n int64, err error) {
	base := fmt.Sprintf("%s%s%s", s.path(org), tornMark, s.now().UTC().Format("20060102T150405.000000Z"))
	aside, err := createNew(base)
	if err != nil {
		return "", 0, err
	}
	name = aside.Name()
	defer func() {
		if err = errors.Join(err, aside.Close()); err != nil {
			_ = os.Remove(name) // a part of it is of no use, and takes up room where there is none
		}
	}()
	n, err = io.Copy(aside, io.NewSectionReader(f, size, 1<<62))
	if err != nil {
		return name, n, err
	}
	if err := aside.Sync(); err != nil {
		return name, n, err
	}
	return name, n, folder.Sync(s.dir)
}

// createNew makes a file that was not there: with a number behind its name if it was.
func createNew(name string) (*os.File, error) {
	for i := 0; ; i++ {
		path := name
		if i > 0 {
			path = fmt.Sprintf("%s-%d", name, i)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, os.ErrExist) {
			return f, err
		}
	}
}
