package statefile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/internal/durable"
)

// keptBackups is how many earlier states stay beside the file.
const keptBackups = 5

// Local keeps a state in a file. Beside it stand its lock (".lock") and its backups: ".backup" is the one
// before, those before that have their serial in the name.
type Local struct {
	path string
	now  func() time.Time
	beat time.Duration

	backedUp bool   // the state before this process's first change is kept
	seen     string // the sum of what was read or written last, absent if there was nothing
}

// absent stands for a state that isn't there.
const absent = "absent"

// NewLocal keeps the state at path. If that is a link, it is kept where the link leads, with its lock: a file in place
// of the link would be another state than the one that others see.
func NewLocal(path string) *Local {
	if target, err := filepath.EvalSymlinks(path); err == nil && isLink(path) {
		path = target
	}
	return &Local{path: path, now: time.Now, beat: heartbeat}
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

func sumOf(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// Read implements Store.
func (l *Local) Read(context.Context) (*File, error) {
	text, err := os.ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		l.seen = absent
		return nil, nil
	}
	if err != nil {
		return nil, diag.Stateful(err, "the state %s can't be read", l.path)
	}
	l.seen = sumOf(text)
	f, err := Parse(text)
	if err != nil {
		return nil, diag.Stateful(err, "the state %s is damaged, and nothing is done with it", l.path).
			WithHint("%s", l.backupHint())
	}
	return f, nil
}

func (l *Local) backupHint() string {
	backups := l.backups()
	if len(backups) == 0 {
		return "there are no backups beside it"
	}
	return "look at its backups, and put one in its place: " + strings.Join(backups, ", ")
}

// backups lists the backups that there are, the newest first.
func (l *Local) backups() []string {
	numbered := l.numbered()
	slices.Reverse(numbered)
	if _, err := os.Stat(l.path + ".backup"); err == nil {
		numbered = append([]string{l.path + ".backup"}, numbered...)
	}
	return numbered
}

// numbered lists the backups that have a serial in their names, the oldest first.
func (l *Local) numbered() (paths []string) {
	folder, base := filepath.Split(l.path)
	entries, _ := os.ReadDir(filepath.Dir(l.path)) // in order; of a folder that can't be read there are none
	for _, e := range entries {
		serial, ok := strings.CutPrefix(e.Name(), base+".")
		if serial, ended := strings.CutSuffix(serial, ".backup"); ok && ended && isNumber(serial) {
			paths = append(paths, folder+e.Name())
		}
	}
	return paths
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// Write implements Store. The state before the first change becomes the newest backup. A state that isn't the one that
// was read or written here last is left as it is.
func (l *Local) Write(ctx context.Context, f *File) error {
	text, err := f.Bytes()
	if err != nil {
		return diag.Stateful(err, "the state can't be written")
	}
	before, err := os.ReadFile(l.path)
	there := absent
	if err == nil {
		there = sumOf(before)
	}
	switch {
	case err == nil && bytes.Equal(before, text):
		return nil
	case l.seen != "" && there != l.seen && (err == nil || errors.Is(err, fs.ErrNotExist)):
		return &diag.Error{Category: diag.Concurrency, Hint: "plan again",
			Summary: "somebody else has written the state " + l.path + " meanwhile, and it is left as it is"}
	case err == nil && !l.backedUp:
		if err := l.backUp(before); err != nil {
			return diag.Stateful(err, "the state before can't be kept as a backup")
		}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return diag.Stateful(err, "the state %s can't be read", l.path)
	}
	l.backedUp = true
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return diag.Stateful(err, "the folder of the state can't be made")
	}
	if err := durable.Write(l.path, string(text)); err != nil {
		return diag.Stateful(err, "the state %s can't be written", l.path)
	}
	l.seen = sumOf(text)
	return nil
}

// backUp keeps what is there now, and moves what was kept before to a name with its serial.
func (l *Local) backUp(before []byte) error {
	newest := l.path + ".backup"
	if kept, err := os.ReadFile(newest); err == nil {
		if f, err := Parse(kept); err == nil {
			if err := durable.Write(fmt.Sprintf("%s.%010d.backup", l.path, f.Serial), string(kept)); err != nil {
				return err
			}
		}
	}
	if err := durable.Write(newest, string(before)); err != nil {
		return err
	}
	for numbered := l.numbered(); len(numbered) >= keptBackups; numbered = numbered[1:] {
		if err := os.Remove(numbered[0]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
