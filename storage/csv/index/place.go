package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/storage/folder"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// place is where the database is, and is to stay.
type place struct {
	path  string
	log   *slog.Logger
	saved bool // what was removed while it was open
}

func savedPath(path string) string { return path + ".saved" }

// Watch returns nil if the database is still at its path. If not, it has the writer notice
// now: what the database has is saved, and nothing is committed any more.
func (x *Index) Watch() error {
	if x.writer.InPlace() == nil {
		return nil
	}
	return x.Probe()
}

// check refuses to write to a database that nobody will find again. One that was removed is
// saved first: only this process has it now.
func (p *place) check(t *sqlitedb.Tx, err error) error {
	switch {
	case err == nil && p.saved: // it was moved away, and back
		err = os.Remove(savedPath(p.path))
		p.saved = err != nil && !errors.Is(err, fs.ErrNotExist)
		if p.saved {
			return fault.Wrap(err, fault.StoreUnavailable, "a copy of the store's index that is out of date can't be removed")
		}
		return nil
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		p.save(t)
	}
	return fault.Wrap(err, fault.StoreUnavailable,
		"the store's index %s was removed or replaced while it was in use; put it back, or restart", filepath.Base(p.path))
}

// save copies the database, with all that was committed, to a file beside its path, where
// the next Open finds it.
func (p *place) save(t *sqlitedb.Tx) {
	if p.saved {
		return
	}
	err := errors.New("its connection was given up before")
	if t != nil {
		err = copyTo(t, savedPath(p.path))
	}
	p.saved = err == nil
	if err != nil {
		p.log.Error("the index of uploads was removed while it was in use, and could not be saved; it is tried again",
			"path", p.path, "err", err)
		return
	}
	p.log.Error("the index of uploads was removed while it was in use; uploads are refused, and the next start goes on "+
		"with what was saved of it",
		"path", p.path, "saved", savedPath(p.path))
}

// copyTo makes the copy under another name first, so that there is a whole one or none.
func copyTo(t *sqlitedb.Tx, path string) (err error) {
	unfinished := path + ".new"
	f, err := os.OpenFile(unfinished, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err := errors.Join(err, f.Close()); err != nil {
			_ = os.Remove(unfinished)
		}
	}()
	if _, err := t.Conn().ExecContext(context.Background(), "VACUUM INTO ?", unfinished); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Rename(unfinished, path); err != nil {
		return err
	}
	return folder.Sync(filepath.Dir(path))
}

// putBack gives a database that is missing its place again, if it was saved. The WAL that
// the lost one may have left goes: the copy has what is in it. A copy beside a database
// that is there is out of date, and moved aside.
func putBack(path string, log *slog.Logger) error {
	if _, err := os.Lstat(savedPath(path)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	_, err := os.Lstat(path)
	if err == nil {
		aside := savedPath(path) + ".unused"
		log.Warn("a saved copy of the index of uploads is not used: the index is there", "moved", aside)
		return os.Rename(savedPath(path), aside)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(savedPath(path), path); err != nil {
		return fmt.Errorf("use what was saved: %w", err)
	}
	log.Warn("the index of uploads is the one that was saved when it was removed", "path", path)
	return folder.Sync(filepath.Dir(path))
}
