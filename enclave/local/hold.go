package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// holdFile is locked by whoever is at work in a partition's folder.
const holdFile = ".holdfast/hold"

// hold takes a partition's folder, which it makes where there is none. A tool that has outlived a process which was
// killed has it still: its end is waited for. Close gives it back.
func (r *Runner) hold(ctx context.Context, path string) (*os.File, error) {
	dir := r.folder(path)
	name := filepath.Join(dir, filepath.FromSlash(holdFile))
	for since, told := time.Now(), false; ; {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.Chmod(dir, 0o700)); err != nil {
			return nil, err
		}
		file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		taken, err := take(file)
		if err == nil && taken && isStill(file, name) {
			return file, nil
		}
		file.Close()
		switch {
		case err != nil:
			return nil, err
		case time.Since(since) >= stopsWithin:
			return nil, fmt.Errorf("a tool of an earlier run, or another reconcile, is at work in %s still", dir)
		case !taken && !told:
			told = true
			r.warn(path, "waiting for a tool of an earlier run, or another reconcile, that is at work in "+dir)
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// isStill reports whether an open file is the one of that name: its folder may have been removed meanwhile.
func isStill(file *os.File, name string) bool {
	is, err := file.Stat()
	there, err2 := os.Stat(name)
	return err == nil && err2 == nil && os.SameFile(is, there)
}
