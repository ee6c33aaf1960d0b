package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// User is an account of the system by its numbers.
type User struct{ UID, GID int }

// handOver gives what commands may change to their user, where they have one of their own. What
// the executor notes stays its own; the way to the folders is open, and what lies along it is
// not.
func (s *stage) handOver() error {
	user := s.executor.settings.User
	if user == nil {
		return nil
	}
	for path := s.folder; len(path) >= len(s.executor.settings.Work); path = filepath.Dir(path) {
		if err := os.Chmod(path, 0o711); err != nil {
			return err
		}
	}
	for _, path := range append(s.writable(), s.config.Cache...) {
		if err := own(path, *user); err != nil {
			return err
		}
	}
	return os.Chmod(cliConfigIn(s.folder), 0o644)
}

// own gives a folder with all that is in it to a user. Links are given themselves, and nothing
// that they lead to: not even where somebody who may write in there puts one in the place of a
// folder meanwhile.
func own(folder string, user User) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			err = root.Lchown(path, user.UID, user.GID)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}
