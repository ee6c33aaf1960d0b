package authfile

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

// openNotify asks the system to report changes. Linux has few such watchers for each user
// and shares them among containers: to be without one is no reason not to serve.
func (w *Watcher) openNotify(ctx context.Context, open func() (*fsnotify.Watcher, error)) {
	if open == nil {
		open = fsnotify.NewWatcher
	}
	notify, err := open()
	if err != nil {
		w.setBlind(ctx, err)
		return
	}
	w.notify = notify
}

func (w *Watcher) closeNotify() error {
	if w.notify == nil {
		return nil
	}
	return w.notify.Close()
}

// reports returns the channels of the events and of the errors. Without a watcher nothing
// ever comes.
func (w *Watcher) reports() (<-chan fsnotify.Event, <-chan error) {
	if w.notify == nil {
		return nil, nil
	}
	return w.notify.Events, w.notify.Errors
}

// setBlind notes why changes aren't reported, nil when they are, and logs each reason once.
func (w *Watcher) setBlind(ctx context.Context, reason error) {
	had := w.blind
	if w.blind = ""; reason != nil {
		w.blind = reason.Error()
	}
	if w.blind != had && w.blind != "" {
		w.log.WarnContext(ctx, "the system doesn't report changes of the auth file; it is looked at regularly instead",
			slog.String("file", w.name), slog.Duration("every", min(w.poll, pollBlind)), slog.String("error", w.blind))
	}
}

// interval returns how long to wait before the file is looked at again.
func (w *Watcher) interval() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.blind != "" {
		return min(w.poll, pollBlind)
	}
	return w.poll
}

// watchChain watches the folders of all entries that decide what the path leads to, and
// no others. A folder that can't be watched is left to the poll.
func (w *Watcher) watchChain(ctx context.Context) []string {
	w.entries = chain(w.path)
	if w.notify == nil {
		return w.entries
	}
	var folders []string
	for _, e := range w.entries {
		if folder := filepath.Dir(e); !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	w.unwatchAllBut(folders)
	var failed []error
	for _, folder := range folders {
		if err := w.notify.Add(folder); err != nil {
			failed = append(failed, fmt.Errorf("can't watch %s: %w", folder, err))
		}
	}
	w.setBlind(ctx, errors.Join(failed...))
	return w.entries
}

func (w *Watcher) unwatchAllBut(folders []string) {
	for _, had := range w.notify.WatchList() {
		if slices.Contains(folders, had) {
			continue
		}
		// It may be gone already, and its watch with it.
		if err := w.notify.Remove(had); err != nil && !errors.Is(err, fsnotify.ErrNonExistentWatch) {
			w.log.Debug("no longer watching", "folder", had, "error", err)
		}
	}
}
