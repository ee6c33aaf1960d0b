package agent

import (
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
// states, the oldest first. The newest file stays in any case.
func sweepKept(work string, now time.Time, most int64) error {
	entries, err := os.ReadDir(keptIn(work))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var kept []fs.FileInfo
	var total int64
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			kept, total = append(kept, info), total+info.Size()
		}
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	newest := len(kept) - 1
	isState := func(info fs.FileInfo) bool { return strings.HasSuffix(info.Name(), erroredState) }
	for _, states := range []bool{false, true} {
		for i, info := range kept {
			old := now.Sub(info.ModTime()) > keepKept
			if isState(info) != states || i == newest && !old || !old && total <= most {
				continue
			}
			if gone := os.Remove(filepath.Join(keptIn(work), info.Name())); gone != nil {
				err = errors.Join(err, gone)
				continue
			}
			total -= info.Size()
		}
	}
	return err
}
