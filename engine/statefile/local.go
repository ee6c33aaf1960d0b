package statefile

import (
	"bytes"
	"context"
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

	backedUp bool // the state before this process's first change is kept
}

// NewLocal keeps the state at path.
func NewLocal(path string) *Local {
	return &Local{path: path, now: time.Now, beat: heartbeat}
}

// Read implements Store.
func (l *Local) Read(context.Context) (*File, error) {
	text, err := os.ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, diag.Stateful(err, "the state %s can't be read", l.path)
	}
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
	numbered, _ := filepath.Glob(l.path + ".[0-9]*.backup")
	slices.Sort(numbered)
	slices.Reverse(numbered)
	if _, err := os.Stat(l.path + ".backup"); err == nil {
		numbered = append([]string{l.path + ".backup"}, numbered...)
	}
	return numbered
}

// Write implements Store. The state before the first change becomes the newest backup.
func (l *Local) Write(ctx context.Context, f *File) error {
	text, err := f.Bytes()
	if err != nil {
		return diag.Stateful(err, "the state can't be written")
	}
	before, err := os.ReadFile(l.path)
	switch {
	case err == nil && bytes.Equal(before, text):
		return nil
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
	numbered, err := filepath.Glob(l.path + ".[0-9]*.backup")
	if err != nil {
		return err
	}
	slices.Sort(numbered)
	for len(numbered) >= keptBackups {
		if err := os.Remove(numbered[0]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		numbered = numbered[1:]
	}
	return nil
}
