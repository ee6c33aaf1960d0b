package durable

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// going is how long a call of CreateNew may take.
const going = time.Minute

// RemoveLeft removes what calls of CreateNew for this path have left beside it that were killed, and returns how many
// files those were. It leaves alone what may be of a call that goes on.
func RemoveLeft(path string, now time.Time) (removed int, err error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return 0, ignoreMissing(err)
	}
	left := regexp.MustCompile("^" + regexp.QuoteMeta("."+filepath.Base(path)+".") + "[A-Z2-7]{26,}$") // see rand.Text
	for _, entry := range entries {
		if !left.MatchString(entry.Name()) || !entry.Type().IsRegular() {
			continue
		}
		info, failed := entry.Info()
		if failed == nil && now.Sub(info.ModTime()) > going {
			if failed = os.Remove(filepath.Join(filepath.Dir(path), entry.Name())); failed == nil {
				removed++
			}
		}
		err = errors.Join(err, ignoreMissing(failed))
	}
	if removed > 0 {
		err = errors.Join(err, syncFolder(filepath.Dir(path)))
	}
	return removed, err
}
