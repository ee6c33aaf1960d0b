package follow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// pollBlind is the longest interval of the poll while the system reports no changes.
const pollBlind = 2 * time.Second

// openNotify asks the system to report changes. Linux has few such watchers for each user
// and shares them among containers: to be without one is no reason not to serve.
func (f *Follower) openNotify(ctx context.Context) {
	if !f.Report {
		return
	}
	open := f.newNotify
	if open == nil {
		open = fsnotify.NewWatcher
	}
	watcher, err := open()
	if err != nil {
		f.setBlind(ctx, err)
		return
	}
	f.watcher = watcher
}

func (f *Follower) closeNotify() error {
	if f.watcher == nil {
		return nil
	}
	return f.watcher.Close()
}

// reports returns the channels of the events and of the errors. Without a watcher nothing
// ever comes.
func (f *Follower) reports() (<-chan fsnotify.Event, <-chan error) {
	if f.watcher == nil {
		return nil, nil
	}
	return f.watcher.Events, f.watcher.Errors
}

// noteEvent reports whether an event is about one of the files, or about a link that leads
// to one, and may put off the next look.
func (f *Follower) noteEvent(e fsnotify.Event) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.entries, filepath.Clean(e.Name)) {
		return false
	}
	return f.noteChange()
}

// noteLost is noteEvent where it is not known what was reported.
func (f *Follower) noteLost() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.noteChange()
}

// noteChange reports whether a change may put off the next look: not for ever. f.mu is held.
func (f *Follower) noteChange() bool {
	f.reported = true
	if f.restless.IsZero() {
		f.restless = time.Now()
	}
	return !f.isOverdue()
}

// setBlind notes why changes aren't reported, nil when they are, and logs each reason once.
func (f *Follower) setBlind(ctx context.Context, reason error) {
	had := f.blind
	if f.blind = ""; reason != nil {
		f.blind = reason.Error()
	}
	if f.blind != had && f.blind != "" {
		f.Logger.WarnContext(ctx, "the system doesn't report changes of "+f.What+"; it is looked at regularly instead",
			slog.String("file", f.Name), slog.Duration("every", min(f.Poll, pollBlind)), slog.String("error", f.blind))
	}
}

// watchChains watches the folders of all entries that decide what the paths lead to, and
// no others. A folder that can't be watched is left to the poll.
func (f *Follower) watchChains(ctx context.Context) []string {
	f.entries = chains(f.Paths)
	if f.watcher == nil {
		return f.entries
	}
	var folders []string
	for _, e := range f.entries {
		if folder := filepath.Dir(e); !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	f.unwatchAllBut(folders)
	var failed []error
	for _, folder := range folders {
		if err := f.watcher.Add(folder); err != nil {
			failed = append(failed, fmt.Errorf("can't watch %s: %w", folder, err))
		}
	}
	f.setBlind(ctx, errors.Join(failed...))
	return f.entries
}

func (f *Follower) unwatchAllBut(folders []string) {
	for _, had := range f.watcher.WatchList() {
		if slices.Contains(folders, had) {
			continue
		}
		// It may be gone already, and its watch with it.
		if err := f.watcher.Remove(had); err != nil && !errors.Is(err, fsnotify.ErrNonExistentWatch) {
			f.Logger.Debug("no longer watching", "folder", had, "error", err)
		}
	}
}
