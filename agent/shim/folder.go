package shim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/holdfast/holdfast/internal/durable"
)

// The files of a shim's folder.
const (
	lockFile    = "lock"
	shimFile    = "shim.json"
	commandFile = "command.json"
	exitFile    = "exit.json"
	exitRoom    = "exit.room" // becomes exit.json: its room on the disk is taken at the start
	pipeSuffix  = ".pipe"

	exitRoomSize = 16 << 10
)

// folder is a shim's folder.
type folder string

func (f folder) path(name string) string { return filepath.Join(string(f), name) }

func (f folder) write(name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return durable.Write(f.path(name), string(text))
}

func (f folder) read(name string, value any) error {
	text, err := os.ReadFile(f.path(name))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, value); err != nil {
		return fmt.Errorf("can't read %s: %w", f.path(name), err)
	}
	return nil
}

// sync makes renames in the folder survive a loss of power.
func (f folder) sync() error {
	d, err := os.Open(string(f))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// readExit is how the command ended; fs.ErrNotExist when that is not known.
func (f folder) readExit() (*Exit, error) {
	var exit Exit
	if err := f.read(exitFile, &exit); err != nil {
		return nil, err
	}
	return &exit, nil
}

// reserveExit takes the room on the disk that writing the exit needs, so that a full disk
// doesn't keep it from being known.
func (f folder) reserveExit() error {
	return os.WriteFile(f.path(exitRoom), make([]byte, exitRoomSize), 0o600)
}

// writeExit writes it in the place that was reserved.
func (f folder) writeExit(exit Exit) (err error) {
	text, err := json.Marshal(exit)
	if err != nil {
		return err
	}
	if len(text) > exitRoomSize {
		exit.Failed, exit.Sandbox.Why = "", nil
		if text, err = json.Marshal(exit); err != nil {
			return err
		}
	}
	file, err := os.OpenFile(f.path(exitRoom), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := file.WriteAt(text, 0); err != nil {
		return err
	}
	if err := errors.Join(file.Truncate(int64(len(text))), file.Sync()); err != nil {
		return err
	}
	if err := os.Rename(f.path(exitRoom), f.path(exitFile)); err != nil {
		return err
	}
	return f.sync()
}

// A request is asked of a shim by renaming its file, and done once by renaming it again.
type request string

const (
	interruptRequest request = "interrupt"
	killRequest      request = "kill"
)

const (
	unset = ".unset"
	asked = ".asked"
	done  = ".done"
)

// makeRequest makes the request's file, unless there is one.
func (f folder) makeRequest(r request) error {
	for _, state := range []string{unset, asked, done} {
		if _, err := os.Stat(f.path(string(r) + state)); err == nil {
			return nil
		}
	}
	return os.WriteFile(f.path(string(r)+unset), nil, 0o600)
}

// move renames the request's file from one state to the next. Only one of all who ever try it
// is told true. That needs to outlive processes only: what ends the machine ends the command.
func (f folder) move(r request, from, to string) (first bool, err error) {
	err = os.Rename(f.path(string(r)+from), f.path(string(r)+to))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (f folder) isDone(r request) bool {
	_, err := os.Stat(f.path(string(r) + done))
	return err == nil
}
