package authfile

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// maxSettles bounds, in settling times, how long a file that is written all the time can
// put off being read: a key that it no longer has must stop working.
const maxSettles = 10

// follow reloads the file some time after the last event about it, until ctx ends.
func (w *Watcher) follow(ctx context.Context) {
	defer close(w.done)
	defer w.closeNotify()
	events, lost := w.reports()
	poll := time.NewTimer(w.interval())
	defer poll.Stop()
	settled := time.NewTimer(w.settle)
	defer settled.Stop()
	settled.Stop()
	var since time.Time // the first event that hasn't been acted on
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-events:
			if !w.concerns(e) {
				continue
			}
		case err := <-lost:
			// Events may have been lost, so the file is read to be sure.
			w.log.WarnContext(ctx, "watching the auth file", "error", err)
		case <-poll.C:
			changed := w.looksChanged(ctx)
			poll.Reset(w.interval())
			if !changed {
				continue
			}
		case <-settled.C:
			since = time.Time{}
			w.mu.Lock()
			w.refresh(ctx) // logs its error
			w.mu.Unlock()
			continue
		}
		if since.IsZero() {
			since = time.Now()
		}
		if time.Since(since) < maxSettles*w.settle {
			settled.Reset(w.settle)
		}
	}
}

// concerns reports whether an event is about the file or about a link that leads to it.
func (w *Watcher) concerns(e fsnotify.Event) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.entries, filepath.Clean(e.Name))
}

// looksChanged reports whether there is another file than the one that was read, and
// renews the watches: a folder that was removed and made again has lost its own.
func (w *Watcher) looksChanged(ctx context.Context) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watchChain(ctx)
	info, err := os.Stat(w.path)
	if err != nil || w.info == nil {
		return err == nil || w.info != nil
	}
	return !os.SameFile(info, w.info) || info.Size() != w.info.Size() || !info.ModTime().Equal(w.info.ModTime())
}
