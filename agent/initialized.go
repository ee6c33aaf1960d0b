package agent

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	// keepInitialized is how long what init made for a plan is kept for the plan's apply, and
	// maxInitialized for how many plans.
	keepInitialized = 15 * time.Minute
	maxInitialized  = 32
)

// initialized keeps, for a while, what init made for plans, so that their applies need not make it
// again on this executor. Who begins anew has none: then init is run.
type initialized struct {
	root string
	mu   sync.Mutex
	kept map[string]keptInit // by run
}

// initOf says what an init was of: what is the same, the same init makes the same of.
type initOf struct {
	plan              int    // which attempt's plan it is for
	folder, directory string // of the run, and of its root module
	tool, lock        string // digests of the program, and of the lock file that there is afterwards
	made              string // the digest of all that it made
}

// keptInit is what one init made.
type keptInit struct {
	initOf
	path  string
	timer *time.Timer
}

func newInitialized(work string) *initialized {
	return &initialized{root: filepath.Join(work, "initialized"), kept: map[string]keptInit{}}
}

// open removes what an executor before has left.
func (i *initialized) open() error { return errors.Join(wipe(i.root), os.MkdirAll(i.root, 0o700)) }

// keep takes a folder away that a run's init made, in the place of what was kept for an earlier plan.
func (i *initialized) keep(run, folder string, of initOf) error {
	if err := i.drop(run); err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.kept) >= maxInitialized {
		return nil // it is made again
	}
	path := filepath.Join(i.root, run)
	if err := os.Rename(folder, path); err != nil {
		return err
	}
	i.kept[run] = keptInit{of, path, time.AfterFunc(keepInitialized, func() { _ = i.drop(run) })}
	return nil
}

// drop removes what was kept of a run.
func (i *initialized) drop(run string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	kept, ok := i.kept[run]
	if !ok {
		return nil
	}
	kept.timer.Stop()
	delete(i.kept, run)
	return wipe(kept.path)
}

// restore puts what was kept of a run into a folder, if it is just what this init would make, and
// nobody has changed anything in it since.
func (i *initialized) restore(run, folder string, same func(initOf) bool) (restored bool, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	kept, ok := i.kept[run]
	if !ok {
		return false, nil
	}
	kept.timer.Stop()
	delete(i.kept, run)
	if !same(kept.initOf) {
		return false, wipe(kept.path)
	}
	if err := errors.Join(wipe(folder), os.Rename(kept.path, folder)); err != nil {
		return false, errors.Join(err, wipe(kept.path), os.MkdirAll(folder, 0o700))
	}
	return true, nil
}

// close removes all of it.
func (i *initialized) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, kept := range i.kept {
		kept.timer.Stop()
	}
	clear(i.kept)
	_ = wipe(i.root) // else the next executor does
}
