package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

const (
	databaseName = "state.db"
	lockName     = "holdfast.lock"
	// applicationID is "Hold"; the first migration sets it.
	applicationID = 0x486f6c64
)

// prepareDir makes the directory, only for its owner. One that is there keeps its mode:
// whoever mounted it chose it.
func prepareDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o700); err != nil { // the umask may have taken from it
		return err
	}
	return syncDir(filepath.Dir(dir))
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

func syncDir(dir string) (err error) {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return f.Sync()
}
