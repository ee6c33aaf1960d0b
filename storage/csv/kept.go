package csv

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/csv/index"
	"github.com/holdfast/holdfast/storage/folder"
)

// keptMark comes behind the name of the file of which Expire copies what stays.
const keptMark = ".kept"

// replace puts the copy that the index goes by in the place of the file, and trusts it. It needs the gate. After an
// error the next one who loads the tenant goes on.
func (t *tenant) replace(head index.Head) error {
	kept, err := lookAt(t.path + keptMark)
	if err != nil {
		return err
	}
	if err := t.store.putInPlace(t.org); err != nil {
		return err
	}
	now, err := lookAt(t.path)
	if err != nil {
		return err
	}
	if now.plain && now.seal.Inode == kept.seal.Inode && now.size == head.Size() {
		t.head = head
		t.trust(now)
	}
	return t.load()
}

// putInPlace takes the rename back while a crash may undo it, so that nothing is appended before: else the next start
// could find both names, and what was appended in the one that the index does not go by any more.
func (s *Store) putInPlace(org uuid.UUID) error {
	s.files.forget(org)
	path := s.path(org)
	err := s.rename(path+keptMark, path)
	if err == nil {
		if err = folder.Sync(s.dir); err != nil {
			err = errors.Join(err, s.rename(path, path+keptMark))
		}
	}
	return fileError(err)
}

// placeKept deals with the copy that a crash or an error has left of a file: it is put in its place if it is what the
// index goes by, else removed, if the file is there. It needs the gate, or the store to itself.
func (t *tenant) placeKept(ctx context.Context) error {
	path := t.path + keptMark
	now, err := lookAt(path)
	if err != nil || !now.exists {
		return err
	}
	file, err := lookAt(t.path)
	if err != nil {
		return err
	}
	head, err := t.settledHead(ctx)
	if err != nil {
		return err
	}
	same := head.ID == 0 && !file.exists // the index was removed, and there is nothing else to make it from
	if head.ID != 0 {
		if same, err = t.isFileOfIndex(ctx, path, now, head); err != nil {
			return err
		}
	}
	if same {
		t.store.log.InfoContext(ctx, "old uploads were removed; the file without them is put in its place", "org", t.org)
		return t.store.putInPlace(t.org)
	}
	if !file.exists {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fileError(err)
	}
	return nil
}

// settledHead returns what the index goes by once it is certain what was committed.
func (t *tenant) settledHead(ctx context.Context) (index.Head, error) {
	head, err := t.store.index.Head(ctx, t.org)
	if err != nil || head.ID == 0 {
		return head, err
	}
	if _, err := t.store.index.Settle(t.org, head.ID); err != nil {
		return head, err
	}
	return t.store.index.Head(ctx, t.org)
}

// isFileOfIndex reports whether the copy is of the size that the index goes by, which it has only once the index counts
// from what stays: until then the file is longer. To be sure, it compares the last piece.
func (t *tenant) isFileOfIndex(ctx context.Context, path string, now stamp, head index.Head) (bool, error) {
	if !now.plain || now.size != head.Size() {
		return false, nil
	}
	last, err := t.store.index.Last(ctx, head.ID, head.Length)
	if err != nil {
		return false, err
	}
	f, err := os.Open(path)
	if err != nil {
		return false, fileError(err)
	}
	defer func() { _ = f.Close() }()
	same, err := t.matches(f, last.Start-head.Base, last.Length, last.CRC)
	return same, fileError(err)
}

// placeAllKept does so for all organizations, before anything is compared. What it can't do, their first use tries
// again.
func (s *Store) placeAllKept(ctx context.Context) error {
	names, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, entry := range names {
		name, kept := strings.CutSuffix(entry.Name(), keptMark)
		org, ok := organizationOf(name)
		if !kept || !ok {
			continue
		}
		if err := s.placeKeptOf(ctx, org); err != nil {
			s.log.ErrorContext(ctx, "upload file not put in its place", "org", org, "err", err)
		}
	}
	return nil
}

func (s *Store) placeKeptOf(ctx context.Context, org uuid.UUID) error {
	t := s.tenants.acquire(org)
	defer s.tenants.release(t)
	return t.placeKept(ctx)
}
