package csv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
	"github.com/google/uuid"
)

const (
	indexName = "uploads.db"
	lockName  = "uploads.lock"
	probeName = "uploads.probe"
	suffix    = ".csv"
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
	return syncDir(filepath.Dir(dir))
}

// takeDir locks the directory's uploads, for this process alone.
func takeDir(dir string) (*flock.Flock, error) {
	path := filepath.Join(dir, lockName)
	lock := flock.New(path, flock.SetPermissions(0o600))
	taken, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if !taken {
		return nil, fmt.Errorf("%s is in use: another holdfast process holds %s; stop it first, or give this one a directory of its own", dir, lockName)
	}
	return lock, nil
}

// organizationOf returns whose file has this name.
func organizationOf(name string) (uuid.UUID, bool) {
	text, ok := strings.CutSuffix(name, suffix)
	org, err := uuid.Parse(text)
	return org, ok && err == nil && org.String() == text
}

func syncDir(dir string) (err error) {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return f.Sync()
}
