package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// LeftOf returns the run folders of an organization that are there: those of runs that go on, or that
// nobody has cleared yet.
func LeftOf(work, org string) (folders []string, err error) {
	all, err := filepath.Glob(filepath.Join(work, "runs", "*", "*"))
	for _, folder := range all {
		r, err := readRecord(folder)
		if err == nil && r.Org == org {
			folders = append(folders, folder)
		}
	}
	return folders, err
}

// RemoveKept removes what the executor whose folder it is keeps of runs beside their folders: states and
// logs that no server took, and what init made for plans. It asks of each run whether it is one of
// those, and returns how many things went.
func RemoveKept(work string, isTheirs func(run string) (bool, error)) (removed int, err error) {
	for _, dir := range []string{keptIn(work), newInitialized(work).root} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		for _, entry := range entries {
			run, _, _ := strings.Cut(entry.Name(), "-")
			theirs, err := isTheirs(run)
			if err == nil && theirs {
				removed++
				err = wipe(filepath.Join(dir, entry.Name()))
			}
			if err != nil {
				return removed, err
			}
		}
	}
	return removed, nil
}
