package sqlitedb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/holdfast/holdfast/storage/folder"
)

// Held is a database file that this process has for itself. Make it with File.Hold.
type Held struct {
	path string
	file *os.File // is locked; SQLite has descriptors of its own
	info fs.FileInfo
}

// errInUse says that another process holds the file.
var errInUse = errors.New("another process holds it")

// ErrReplaced says that another file stands where the one that is held was.
var ErrReplaced = errors.New("the database file was replaced while it was in use")

// Hold makes the database file when it is missing, and its owner's alone in any case. SQLite gives the -wal and -shm
// files the mode of this one, whatever the umask. It refuses a file of something else, and leaves it as it is, and
// one that another process holds. On Linux it holds the file itself until Close: whoever calls it meanwhile, for
// this file and by whatever name, gets an error. Unlike a lock file it can't be removed without the database. SQLite
// does not notice it, and neither do an operator's sqlite3 and tools that copy the file.
//
// It must be called before SQLite opens the file, and Close after SQLite has closed it:
// when a process closes a file, it drops SQLite's own locks on it.
func (f File) Hold() (_ *Held, err error) {
	file, err := os.OpenFile(f.Path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	if err := f.checkHeader(file); err != nil {
		return nil, fmt.Errorf("%s %w", f.Path, err)
	}
	if err := hold(file); errors.Is(err, errInUse) {
		return nil, fmt.Errorf("%s is in use: %w, also if a lock file beside it is gone; stop that one first, or give this "+
			"one a directory of its own", f.Path, err)
	} else if err != nil {
		return nil, fmt.Errorf("lock %s: %w", f.Path, err)
	}
	if err := file.Chmod(0o600); err != nil {
		return nil, err
	}
	if err := file.Sync(); err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	h := &Held{path: f.Path, file: file, info: info}
	if err := errors.Join(h.InPlace(), folder.Sync(filepath.Dir(f.Path))); err != nil {
		return nil, err
	}
	return h, nil
}

// InPlace returns nil if the file that is held is the one at its path. Otherwise nobody
// will find again what is written to it: the error is fs.ErrNotExist if it was removed or
// moved away, and ErrReplaced if another file is there. It takes a microsecond or two.
func (h *Held) InPlace() error {
	found, err := os.Stat(h.path)
	if err == nil && !os.SameFile(found, h.info) {
		return ErrReplaced
	}
	return err
}

// Close lets the file go. SQLite must have closed it before.
func (h *Held) Close() error { return h.file.Close() }
