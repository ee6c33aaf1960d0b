package csv

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/csv/index"
	"github.com/holdfast/holdfast/storage/folder"
)

// Shred implements inventory.Store. The file goes first, as the index is made again from one that is
// there; a crash between the two leaves an organization whose file is missing.
func (s *Store) Shred(ctx context.Context, org uuid.UUID, limit int) (removed int, err error) {
	if err := s.life.enter(); err != nil {
		return 0, err
	}
	defer s.life.leave()
	t := s.tenants.acquire(org)
	defer s.tenants.release(t)
	if err := t.expiring.acquire(ctx); err != nil {
		return 0, err
	}
	defer t.expiring.release()
	if err := t.gate.acquire(ctx); err != nil {
		return 0, err
	}
	defer t.gate.release()
	if removed, err = t.removeFiles(); err != nil || removed > 0 {
		return removed, err
	}
	n, err := s.index.Shred(org, limit)
	if err != nil || n > 0 {
		return int(n), err
	}
	return 0, s.index.Scrub(ctx)
}

// removeFiles removes the organization's file, and what crashes have had kept aside of it, and forgets
// what was known of it. It needs the gate.
func (t *tenant) removeFiles() (removed int, err error) {
	s := t.store
	t.refuseAll()
	s.flusher.abandon(t.org)
	s.files.forget(t.org)
	if t.tail != nil {
		_ = t.tail.Close() // what is in it is not wanted
	}
	t.tail, t.unsettled, t.head, t.last = nil, nil, index.Head{}, index.Segment{}
	t.look(func(v *view) { *v = view{} })
	s.mu.Lock()
	delete(s.foreign, t.org)
	delete(s.unmended, t.org)
	s.mu.Unlock()
	names, err := s.filesOf(t.org)
	if err != nil || len(names) == 0 {
		return 0, fileError(err)
	}
	for _, name := range names {
		if err := os.Remove(filepath.Join(s.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, fileError(err)
		}
		removed++
	}
	return removed, fileError(folder.Sync(s.dir))
}

// refuseAll answers the uploads that wait: nobody would find them.
func (t *tenant) refuseAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.queue {
		p.answer(fault.New(fault.StoreUnavailable, "all data of the organization is being destroyed"))
	}
	t.queue = nil
}

// filesOf returns the names of an organization's file and of what was kept aside of it.
func (s *Store) filesOf(org uuid.UUID) (names []string, err error) {
	all, err := os.ReadDir(s.dir)
	for _, entry := range all {
		file := org.String() + suffix
		if name := entry.Name(); name == file || name == file+keptMark || strings.HasPrefix(name, file+tornMark) {
			names = append(names, name)
		}
	}
	return names, err
}

// abandon gives up what is owed of an organization's file: it is about to be removed.
func (f *flusher) abandon(org uuid.UUID) {
	f.turn.Lock() // so that nobody syncs it now
	defer f.turn.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.owed[org]; o != nil {
		o.close(f)
		delete(f.owed, org)
	}
}
