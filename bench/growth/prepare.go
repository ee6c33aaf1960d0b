package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/bench/local"
	"github.com/holdfast/holdfast/bench/sample"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage"
)

const (
	// preparers write at once, so that many share a commit.
	preparers = 256
	// tellEvery is how often people who wait are told how far it is.
	tellEvery = 5 * time.Second
)

// preparing writes to a data folder while no server has it, through the code that a server
// uses below HTTP: what takes an hour over loopback takes minutes, and the files are the
// same.
type preparing struct {
	what    string
	states  *state.Service
	uploads *inventory.Service
	ended   func() error
}

// prepare opens the stores, has work fill them, and closes them.
func (g *growing) prepare(ctx context.Context, what string, work func(*preparing) error) error {
	if err := g.end(); err != nil {
		return err
	}
	p, err := openStores(ctx, filepath.Join(g.dir, "data"))
	if err != nil {
		return err
	}
	p.what = fmt.Sprintf("%s: %s", g.curve.name, what)
	return errors.Join(work(p), p.ended())
}

func openStores(ctx context.Context, dir string) (*preparing, error) {
	settings, err := configs.Load(configs.Sources{Environ: []string{"STORAGE_PATH=" + dir}})
	if err != nil {
		return nil, err
	}
	if err := local.MakeFolder(ctx, settings); err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	states, err := storage.OpenStates(ctx, settings, log)
	if err != nil {
		return nil, err
	}
	uploads, err := storage.OpenUploads(ctx, settings, log)
	if err != nil {
		return nil, errors.Join(err, states.Close())
	}
	return &preparing{
		states:  state.NewService(states, state.DefaultPolicies{}, time.Now, log),
		uploads: inventory.NewService(uploads),
		ended:   func() error { return errors.Join(uploads.Close(), states.Close()) },
	}, nil
}

func callerOf(org uuid.UUID) auth.Principal {
	return auth.Principal{Org: org, KeyID: "0f3a9c21d4e5", Grant: auth.Grant{Role: auth.Owner}, Address: "127.0.0.1",
		Request: "growth"}
}

// versions adds versions to a state. The first seed of a state must stay its own.
func (p *preparing) versions(ctx context.Context, org uuid.UUID, name string, s *sample.State, count int) error {
	for range count {
		s.Change()
		body := append([]byte(nil), s.Bytes()...) // the store may keep it
		if _, err := p.states.Put(ctx, callerOf(org), state.Name(name), state.Write{Body: body}); err != nil {
			return err
		}
	}
	return nil
}

func (p *preparing) upload(ctx context.Context, org uuid.UUID, u *sample.Upload) error {
	u.Change()
	_, err := p.uploads.Upload(ctx, callerOf(org), append([]byte(nil), u.Bytes()...), "")
	return err
}

// each has so many writers share the numbers from first to before last. The workers get
// their own number first.
func (p *preparing) each(writers, first, last int, one func(writer, n int) error) error {
	var next atomic.Int64
	next.Store(int64(first))
	errs := make([]error, writers)
	stop := p.tell(&next, first, last)
	var running sync.WaitGroup
	for w := range writers {
		running.Go(func() {
			for n := next.Add(1) - 1; n < int64(last) && errs[w] == nil; n = next.Add(1) - 1 {
				errs[w] = one(w, int(n))
			}
		})
	}
	running.Wait()
	stop()
	return errors.Join(errs...)
}

// tell says on stderr how far it is, and at the end how long it took.
func (p *preparing) tell(next *atomic.Int64, first, last int) (stop func()) {
	start, tick, done := time.Now(), time.NewTicker(tellEvery), make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() {
		for {
			select {
			case <-tick.C:
				fmt.Fprintf(os.Stderr, "%s: %d of %d\n", p.what, min(next.Load(), int64(last)), last)
			case <-done:
				return
			}
		}
	})
	return func() {
		tick.Stop()
		close(done)
		telling.Wait()
		fmt.Fprintf(os.Stderr, "%s: %d to %d took %s\n", p.what, first, last, time.Since(start).Round(100*time.Millisecond))
	}
}
