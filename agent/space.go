package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/holdfast/holdfast/internal/disk"
	"github.com/holdfast/holdfast/internal/pause"
)

const (
	// measureEvery is how often a run's folder is measured while a command goes on, and
	// measuringShare how much longer than the measuring the break after it is at least.
	measureEvery   = 3 * time.Second
	measuringShare = 30
	// leastTaken is what a file counts for at least: disks bound how many there are of empty ones too.
	leastTaken = 4 << 10
)

// watchSpace measures the run's folder until the context ends, or there is more in it than there
// may be: then the command is to end.
func (s *stage) watchSpace(ctx context.Context) {
	most := s.executor.settings.MaxFolderBytes
	if most <= 0 {
		return
	}
	for every := measureEvery; pause.For(ctx, every) == nil; {
		began := time.Now()
		if s.measure(ctx); s.overfull.Load() {
			return
		}
		every = max(measureEvery, measuringShare*time.Since(began))
	}
}

// measure has the stage end where the run's folder has more than it may.
func (s *stage) measure(ctx context.Context) {
	most := s.executor.settings.MaxFolderBytes
	if most <= 0 {
		return
	}
	used, err := s.used(ctx, most)
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "the run's folder can't be measured", "error", err)
	}
	if used > most {
		s.overfull.Store(true)
		s.cancels.raise(soft)
	}
}

// tooLarge says that the run's folder has more than it may.
func (s *stage) tooLarge() string {
	return fmt.Sprintf("the run's folder has more than the %d bytes that it may have on this executor's disk",
		s.executor.settings.MaxFolderBytes)
}

// used is how much of the disk the run's folder takes; more than enough is not counted.
func (s *stage) used(ctx context.Context, enough int64) (int64, error) {
	folders := []string{s.folder}
	if tmp := temporaryOf(s.folder); filepath.Dir(tmp) != s.folder {
		folders = append(folders, tmp)
	}
	var total int64
	for _, folder := range folders {
		used, err := usedBy(ctx, folder, enough-total)
		total += used
		if err != nil || total > enough {
			return total, err
		}
	}
	return total, nil
}

// usedBy is how much of the disk is taken by what is in a folder, or more than enough.
func usedBy(ctx context.Context, folder string, enough int64) (total int64, err error) {
	root, err := os.OpenRoot(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(_ string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // it changes while it is looked at
			return nil
		}
		if info, err := entry.Info(); err == nil {
			total += max(disk.Taken(info), leastTaken)
		}
		if total > enough {
			return fs.SkipAll
		}
		return nil
	})
	return total, err
}

// boundCache removes what the organization's runs in this slot have cached, where that is more
// than a run's folder may have: the next one fetches anew what it needs.
func (s *stage) boundCache(ctx context.Context) {
	most := s.executor.settings.MaxFolderBytes
	if most <= 0 {
		return
	}
	for _, folder := range s.config.Cache {
		if used, err := usedBy(ctx, folder, most); err != nil || used <= most {
			continue
		}
		s.log.WarnContext(ctx, "the cache of providers has grown too large, and is begun anew", "folder", folder)
		s.attempt("remove the cache of providers", func() error { return wipe(folder) })
	}
}
