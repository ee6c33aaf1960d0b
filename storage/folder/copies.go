package folder

import (
	"errors"
	"os"
	"path/filepath"
)

const (
	copyPrefix = ".doctor" // and something random
	copyLock   = "lock"
)

// MakeCopy makes a folder for a copy of what a store keeps, with all its secrets. remove removes it. One whose
// process was killed stays, until RemoveCopies.
func MakeCopy(parent string) (dir string, remove func() error, err error) {
	held, err := os.MkdirTemp(parent, copyPrefix+"-")
	if err != nil {
		return "", nil, err
	}
	lock, err := Take(held, copyLock)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(held))
	}
	dir = filepath.Join(held, "copy")
	remove = func() error { return errors.Join(os.RemoveAll(dir), lock.Close(), os.RemoveAll(held)) }
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return dir, remove, nil
}

// RemoveCopies removes the copies that killed processes have left, and says how many others still use.
func RemoveCopies(parent string) (used int, err error) {
	entries, err := os.ReadDir(parent)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	var errs []error
	for _, e := range entries {
		if match, _ := filepath.Match(copyPrefix+"*", e.Name()); !match || !e.IsDir() {
			continue
		}
		left := filepath.Join(parent, e.Name())
		lock, err := Take(left, copyLock)
		if errors.Is(err, os.ErrNotExist) { // its process has just removed it
			continue
		}
		if err != nil {
			used++
			continue
		}
		errs = append(errs, lock.Close(), os.RemoveAll(left))
	}
	return used, errors.Join(append(errs, err)...)
}
