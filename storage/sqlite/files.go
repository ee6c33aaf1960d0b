package sqlite

import (
	"errors"
	"os"
	"path/filepath"
)

const (
	databaseName = "state.db"
	lockName     = "holdfast.lock"
	trialName    = "holdfast.trial"
)

// trialSize is more than what SQLite needs for its smallest write, which may fail while
// there is still room for less.
const trialSize = 16 << 10

// tryDisk writes beside the database, as far into a file of its own as SQLite may have
// been in the WAL, and syncs it. The file system gives the reason that SQLite keeps to
// itself.
func (s *Store) tryDisk() (err error) {
	end, err := databaseFile(s.path).WALSize()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(filepath.Dir(s.path), trialName), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	if _, err := f.WriteAt(make([]byte, trialSize), end); err != nil {
		return err
	}
	return f.Sync()
}
