package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// maxTemporary is how long the path of a folder for temporary files may be: providers make sockets
// below it, in a folder of their own, and the system bounds a socket's path at 107 bytes.
const maxTemporary = 64

// maxSides is how many runs that don't change the state may go on beside each other in a
// workspace.
const maxSides = 100

// folders hands out run folders. A workspace's run that may change something has the same one
// each time, because plans hold absolute paths that their applies need; what only plans goes on
// beside it.
type folders struct {
	root  string
	mu    sync.Mutex
	busy  map[string]bool
	freed chan struct{} // closed when one is released
}

func newFolders(work string) (*folders, error) {
	if !filepath.IsAbs(work) {
		return nil, fmt.Errorf("the folder for work is to be an absolute path: %s", work)
	}
	f := &folders{root: filepath.Join(work, "runs"), busy: map[string]bool{}, freed: make(chan struct{})}
	return f, os.MkdirAll(f.root, 0o700)
}

// mutates reports whether runs of a kind are applied.
func mutates(kind string) bool { return kind == "apply" || kind == "destroy" || kind == "refresh" }

// acquire returns the folder of a run, empty. release must follow. It waits a while for the stage
// before, which may have been reported as ended and not be cleared yet.
func (f *folders) acquire(ctx context.Context, org, workspace, kind string) (string, error) {
	sum := sha256.Sum256([]byte(org + "\x00" + workspace))
	home := filepath.Join(f.root, hex.EncodeToString(sum[:8]))
	ctx, stop := context.WithTimeout(ctx, clearing)
	defer stop()
	path, freed := f.reserve(home, mutates(kind))
	for path == "" {
		select {
		case <-freed:
		case <-ctx.Done():
			return "", errors.New("the workspace's folder is still used by a run that this agent has lost and that has not ended")
		}
		path, freed = f.reserve(home, mutates(kind))
	}
	if err := errors.Join(wipe(temporaryOf(path)), wipe(path), os.MkdirAll(path, 0o700)); err != nil {
		f.release(path)
		return "", err
	}
	return path, nil
}

// clearing is how long the folder of a stage that has ended may take to be cleared.
const clearing = 15 * time.Second

// reserve returns a folder that nobody has, or what is closed when one is given back.
func (f *folders) reserve(home string, main bool) (string, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	names := []string{"main"}
	if !main {
		names = names[:0]
		for i := range maxSides {
			names = append(names, "side"+strconv.Itoa(i))
		}
	}
	for _, name := range names {
		if path := filepath.Join(home, name); !f.busy[path] {
			f.busy[path] = true
			return path, nil
		}
	}
	return "", f.freed
}

// adopt reserves a folder as it is; false if somebody has it.
func (f *folders) adopt(path string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy[path] {
		return false
	}
	f.busy[path] = true
	return true
}

func (f *folders) release(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.busy, path)
	close(f.freed)
	f.freed = make(chan struct{})
}

// remove wipes a folder and gives it back.
func (f *folders) remove(path string) error {
	defer f.release(path)
	err := errors.Join(wipe(temporaryOf(path)), wipe(path))
	_ = os.Remove(filepath.Dir(path)) // of the workspace, unless others are in it
	return err
}

// all returns the folders that are there.
func (f *folders) all() ([]string, error) {
	return filepath.Glob(filepath.Join(f.root, "*", "*"))
}

// AnyLeft reports whether an executor has left runs in its folder, for the next one to go on with.
func AnyLeft(work string) (bool, error) {
	found, err := filepath.Glob(filepath.Join(work, "runs", "*", "*"))
	return len(found) > 0, err
}

// wipe removes a folder, also where a command took its owner's rights to do so away.
func wipe(path string) error {
	if err := os.RemoveAll(path); err == nil {
		return nil
	}
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		_ = os.Chmod(path, 0o700)
	}
	if root, err := os.OpenRoot(path); err == nil { // a link in there leads to nothing else
		_ = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				_ = root.Chmod(name, 0o700)
			}
			return nil
		})
		_ = root.Close()
	}
	return os.RemoveAll(path)
}

// temporaryOf is a run folder's folder for temporary files. It is within, unless its path would be
// too long there.
func temporaryOf(folder string) string {
	if within := filepath.Join(folder, "tmp"); len(within) <= maxTemporary {
		return within
	}
	sum := sha256.Sum256([]byte(folder))
	return "/tmp/holdfast-" + hex.EncodeToString(sum[:8])
}

// The places within a run folder.

func asideIn(folder string) string          { return filepath.Join(folder, erroredState) }
func configIn(folder string) string         { return filepath.Join(folder, "config") }
func planIn(folder string) string           { return filepath.Join(folder, "out", "plan.tfplan") }
func commandIn(folder, phase string) string { return filepath.Join(folder, "p", phase) }
func logIn(folder string) string            { return filepath.Join(folder, "log.masked") }
func beforeIn(folder string) string         { return filepath.Join(folder, "before.json") }
func cliConfigIn(folder string) string      { return filepath.Join(folder, "cli.tfrc") }
func scratchIn(folder, name string) string  { return filepath.Join(folder, name) }
