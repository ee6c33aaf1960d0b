package agent

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// keepKept is for how long an executor keeps what no server took.
	keepKept = 30 * 24 * time.Hour
	// maxKept bounds all of it.
	maxKept = 1 << 30
)

func keptIn(work string) string { return filepath.Join(work, "kept") }

// sweepKept removes what was kept for too long, and then, where there is too much: logs before
// states, of logs the oldest first, and of states the largest, so that no run's drive out those of
// others. The newest file stays in any case; a state doesn't count then, as one alone may be too much.
// What is removed is told: a state may have been the only record of something.
func sweepKept(work string, now time.Time, most int64, removed func(fs.FileInfo)) error {
	entries, err := os.ReadDir(keptIn(work))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var kept []fs.FileInfo
	var total int64
	for _, entry := range entries {
		info, failed := entry.Info()
		switch {
		case failed != nil || !info.Mode().IsRegular():
		case now.Sub(info.ModTime()) > keepKept:
			if gone := os.Remove(filepath.Join(keptIn(work), info.Name())); gone != nil {
				err = errors.Join(err, gone)
				continue
			}
			removed(info)
		default:
			kept, total = append(kept, info), total+info.Size()
		}
	}
	if len(kept) == 0 {
		return err
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	newest := kept[len(kept)-1]
	if isKeptState(newest) {
		total -= newest.Size()
	}
	kept = kept[:len(kept)-1]
	slices.SortStableFunc(kept, sooner)
	for _, info := range kept {
		if total <= most {
			break
		}
		if gone := os.Remove(filepath.Join(keptIn(work), info.Name())); gone != nil {
			err = errors.Join(err, gone)
			continue
		}
		total -= info.Size()
		removed(info)
	}
	return err
}

// sweepKept is sweepKept of its folder, and its log has what was removed.
func (e *Executor) sweepKept() error {
	return sweepKept(e.settings.Work, time.Now(), maxKept, func(info fs.FileInfo) {
		what := "a log that no server took was removed"
		if isKeptState(info) {
			what = "a state that no server took was removed"
		}
		e.log.Warn(what+": it was kept for too long, or there was too much", "file", info.Name(), "bytes", info.Size(),
			"kept_since", info.ModTime())
	})
}

func isKeptState(info fs.FileInfo) bool { return strings.HasSuffix(info.Name(), erroredState) }

// sooner orders files that are removed where there is too much.
func sooner(a, b fs.FileInfo) int {
	switch state, other := isKeptState(a), isKeptState(b); {
	case state && other:
		return cmp.Compare(b.Size(), a.Size())
	case state:
		return 1
	case other:
		return -1
	}
	return 0
}
