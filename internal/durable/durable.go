// Package durable writes files so that whoever reads one, at any time and after any
// crash, sees it whole as it was or whole as it is now.
package durable

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// disk is what a durable write asks of the system.
type disk struct {
	open       func(path string, flag int, mode fs.FileMode) (*os.File, error)
	sync       func(*os.File) error
	move       func(from, to string) error
	syncFolder func(path string) error
}

// realDisk moves files with move.
func realDisk(move func(from, to string) error) disk {
	return disk{open: os.OpenFile, sync: (*os.File).Sync, move: move, syncFolder: syncFolder}
}

// Replace puts text in the place of the file at path, durably. The new file has the
// owner and at most the permissions of the old one, which info describes. The caller
// holds the file's lock.
func Replace(path, text string, info fs.FileInfo) error {
	return realDisk(os.Rename).place(path, text, func(f *os.File) error {
		if err := keepOwner(f, info); err != nil {
			return err
		}
		return f.Chmod(info.Mode().Perm())
	})
}

// Create makes the file at path, mode 0600, durably. It fails with fs.ErrExist when
// somebody who doesn't take the lock made one meanwhile.
func Create(path, text string) error {
	return realDisk(renameNew).place(path, text, unprepared)
}

// CreateNew makes the file at path, mode 0600, durably, without a lock: of several callers at
// once one makes it, and the others fail with fs.ErrExist. It never touches what is there.
func CreateNew(path, text string) error {
	return realDisk(renameNew).placeBy(beside(path, rand.Text()), path, text, unprepared)
}

// Write puts text in the place of whatever file is at path, mode 0600.
func Write(path, text string) error { return realDisk(os.Rename).place(path, text, unprepared) }

// Move renames a file or folder that is synced itself, and makes that durable in both of the
// folders.
func Move(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return errors.Join(SyncFolder(filepath.Dir(to)), SyncFolder(filepath.Dir(from)))
}

// MoveNew is Move of a file, which touches nothing that is there: it fails with fs.ErrExist then.
func MoveNew(from, to string) error {
	if err := renameNew(from, to); err != nil {
		return err
	}
	return errors.Join(SyncFolder(filepath.Dir(to)), SyncFolder(filepath.Dir(from)))
}

// SyncFolder makes the folder's entries durable: new, renamed and removed ones.
func SyncFolder(path string) error { return syncFolder(path) }

func unprepared(*os.File) error { return nil }

// renameNew is os.Rename that doesn't replace.
func renameNew(from, to string) error { return renameNewBy(os.Link, from, to) }

// renameNewBy does it with a link, or without one where the file system knows none.
func renameNewBy(link func(from, to string) error, from, to string) error {
	err := link(from, to)
	switch {
	case err == nil:
		return os.Remove(from)
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist): // where from is missing, to isn't made either
		return err
	}
	// Who has made the file may replace it.
	claim, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(claim.Close(), os.Rename(from, to))
}

// place writes a new file beside path, has it prepared, and moves it into place. Its name
// is always the same, so that what a crash leaves behind doesn't pile up.
func (d disk) place(path, text string, prepare func(*os.File) error) error {
	return d.placeBy(beside(path, "new"), path, text, prepare)
}

// beside is the name of a temporary file for path.
func beside(path, suffix string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+suffix)
}

// placeBy is place with a temporary file of this name.
func (d disk) placeBy(temporary, path, text string, prepare func(*os.File) error) (err error) {
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// O_EXCL: nobody may slip us a link to a file elsewhere.
	f, err := d.open(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("can't write %s: %w", path, err), ignoreMissing(os.Remove(temporary)))
		}
	}()
	if err := errors.Join(d.write(f, text, prepare), f.Close()); err != nil {
		return err
	}
	if err := d.move(temporary, path); err != nil {
		return err
	}
	return d.syncFolder(filepath.Dir(path))
}

func (d disk) write(f *os.File, text string, prepare func(*os.File) error) error {
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	if err := prepare(f); err != nil {
		return err
	}
	return d.sync(f)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
