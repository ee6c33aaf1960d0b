package layers_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/layers"
)

// counted counts the lists of layers that are read of a store.
type counted struct {
	layers.Store
	lists atomic.Int64
}

func (c *counted) Layers(ctx context.Context, q layers.Query) ([]layers.Layer, error) {
	c.lists.Add(1)
	return c.Store.Layers(ctx, q)
}

// What is read of a repository's layers and its files does not grow with how many layers look at a commit: that is once
// for each commit. A layer that is new, or looks elsewhere, is found all the same.
func TestManyLayersReadOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.share = 100
	store := &counted{Store: w.store}
	reads := 0
	s := layers.NewService(layers.Deps{Store: store, Workspaces: workspaces{w}, Runs: runs{w}, Audit: w, Now: w.Now,
		Repositories: odd{repositories: repositories{w}, onRead: func() { reads++ }}, Log: slog.New(slog.DiscardHandler)})
	const many = 30
	add := func(name, path string) {
		made := settings(func(s *layers.Settings) { s.Path, s.Drift.Off = path, true })
		if _, err := s.Add(t.Context(), w.principal(auth.Owner), layers.New{Name: name, Settings: made}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range many {
		add(fmt.Sprint("l", i), "envs/prod")
	}
	w.settle(s)
	for range 3 { // what a run was brought of is read by its own layer
		w.all(func(r *run) { r.out.Ended, r.out.Planned, r.out.End = w.now, w.now, layers.EndedWell })
		w.pass(3 * time.Second)
		w.settle(s)
	}
	store.lists.Store(0)
	reads = 0
	for range 3 {
		w.pushed("docs/README.md")
		w.settle(s)
	}
	if n := store.lists.Load(); n != 3 || reads != 3 {
		t.Errorf("%d lists of layers and %d trees were read for 3 commits", n, reads)
	}
	add("other", "modules/m")
	w.settle(s)
	w.all(func(r *run) { r.out.Ended, r.out.Planned, r.out.End = w.now, w.now, layers.EndedWell })
	w.pass(3 * time.Second)
	w.settle(s)
	commit := w.pushed("modules/m/main.tf")
	w.settle(s)
	for _, name := range []string{"other", "l0"} {
		l, err := w.store.Layer(t.Context(), layers.Ref{Org: w.org, Name: name})
		if err != nil || l.Facts.Relevant.ID != commit {
			t.Errorf("%s: %v, %+v", name, err, l.Facts)
		}
	}
}

// all changes every run.
func (w *world) all(change func(*run)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.order {
		change(r)
	}
}
