package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

const (
	databaseName = "state.db"
	lockName     = "holdfast.lock"
	trialName    = "holdfast.trial"
	// applicationID is "Hold"; the first migration sets it.
	applicationID = 0x486f6c64
)

// prepareDir makes the directory, only for its owner. One that is there keeps its mode:
// whoever mounted it chose it.
func prepareDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parents := newParents(dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o700); err != nil { // the umask may have taken from it
		return err
	}
	for _, parent := range parents {
		if err := syncDir(parent); err != nil {
			return err
		}
	}
	return nil
}

// newParents returns the folders that get a new entry when dir is made, dir's own first.
func newParents(dir string) (parents []string) {
	for {
		if _, err := os.Lstat(dir); err == nil || filepath.Dir(dir) == dir {
			return parents
		}
		dir = filepath.Dir(dir)
		parents = append(parents, dir)
	}
}

// takeDir locks the directory, for this process alone: the caches above the store rely on
// nobody else writing.
func takeDir(dir string) (*flock.Flock, error) {
	path := filepath.Join(dir, lockName)
	lock := flock.New(path)
	taken, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if !taken {
		return nil, fmt.Errorf("%s is in use: another holdfast process holds %s; stop it first, or give this one a directory of its own", dir, lockName)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// prepareFile makes the database file when it is missing, and its owner's alone in any
// case. SQLite gives the -wal and -shm files the mode of this one, whatever the umask. It
// must not be called once SQLite has the file open: closing it here would drop SQLite's
// locks on it.
func prepareFile(path string) (err error) {
	if err := checkWAL(path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := checkHeader(f); err != nil {
		return fmt.Errorf("%s %w", path, err)
	}
	if err := f.Chmod(0o600); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// checkWAL refuses a WAL whose database is missing or empty: SQLite would take it for a
// leftover and delete it, with all that was in it. No start that was killed leaves that:
// the database has its first page on disk before there is a WAL.
func checkWAL(path string) error {
	wal := path + "-wal"
	left, err := size(wal)
	if err != nil || left == 0 {
		return err
	}
	there, err := size(path)
	if err != nil || there > 0 {
		return err
	}
	return fmt.Errorf("%s is missing or empty, but %s has %d bytes that belong to it; put %[1]s back as it was, or, to restore a backup or to begin anew, first move %[2]s away; both were left as they are", path, wal, left)
}

// size is zero for a file that is missing.
func size(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// checkHeader refuses a file of something else before SQLite touches it. An application ID
// of zero may be ours: that of a first start that was killed is still in the WAL.
func checkHeader(f io.Reader) error {
	header := make([]byte, 100) // its length in SQLite's file format
	n, err := io.ReadFull(f, header)
	if err == io.EOF {
		return nil // a new, empty file
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if n < len(header) || !bytes.HasPrefix(header, []byte("SQLite format 3\x00")) {
		return errors.New("is not an SQLite database; it was left as it is")
	}
	if id := binary.BigEndian.Uint32(header[68:]); id != 0 && id != applicationID {
		return fmt.Errorf("is an SQLite database of another application (ID %#x); it was left as it is", id)
	}
	return nil
}

// trialSize is more than what SQLite needs for its smallest write, which may fail while
// there is still room for less.
const trialSize = 16 << 10

// tryDisk writes beside the database, as far into a file of its own as SQLite may have
// been in the WAL, and syncs it. The file system gives the reason that SQLite keeps to
// itself.
func (w *writer) tryDisk() (err error) {
	end, err := size(w.path + "-wal")
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(filepath.Dir(w.path), trialName), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	if _, err := f.WriteAt(make([]byte, trialSize), end); err != nil {
		return err
	}
	return f.Sync()
}

func syncDir(dir string) (err error) {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return f.Sync()
}
