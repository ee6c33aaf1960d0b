// Package folder makes the folder in which a store keeps its files, and takes it for one
// process.
package folder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// Make makes the folder and its parents, only for their owner, and durable. One that is
// there keeps its mode: whoever mounted it chose it.
func Make(dir string) error {
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
		if err := Sync(parent); err != nil {
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

// Take locks the folder by the file of this name in it, for this process alone: a store
// relies on nobody else writing. Whoever takes it closes the lock in the end.
func Take(dir, name string) (*flock.Flock, error) {
	path := filepath.Join(dir, name)
	lock := flock.New(path)
	taken, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if !taken {
		return nil, fmt.Errorf("%s is in use: another holdfast process holds %s; stop it first, or give this one a "+
			"directory of its own", dir, name)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// Sync makes the folder's entries durable: new, renamed and removed ones.
func Sync(dir string) (err error) {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return f.Sync()
}
