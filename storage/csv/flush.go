package csv

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/csv/index"
	"github.com/holdfast/holdfast/storage/folder"
)

const (
	flushEvery  = time.Second
	flushBytes  = 16 << 20 // that wait are enough to begin at once
	flushFiles  = 64       // so are these; no more are kept open for it
	flushAtOnce = 16       // files; those that were not kept open come to these
)

// flusher brings the files to disk behind the answers: an upload is durable in the index's
// journal before, with one fsync for all organizations that wait. With the files' own fsyncs
// in the way, uploads of 16 organizations took three times as many.
type flusher struct {
	store *Store

	mu    sync.Mutex
	owed  map[uuid.UUID]*owed
	bytes int64 // that are owed
	open  slots // for files that are kept open

	turn sync.Mutex // held by who flushes
	told bool       // that the journal can't be emptied
	wake chan struct{}
	quit chan struct{}
	done sync.WaitGroup
}

func newFlusher(s *Store) *flusher {
	return &flusher{store: s, owed: map[uuid.UUID]*owed{}, open: newSlots(flushFiles), wake: make(chan struct{}, 1),
		quit: make(chan struct{})}
}

func (f *flusher) start(every time.Duration) {
	f.done.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-f.quit:
				return
			case <-tick.C:
			case <-f.wake:
			}
			_ = f.store.index.Watch() // it was logged
			_ = f.flush()             // it was logged, and stays owed
		}
	})
}

// stop flushes once more. After an error the journal is not empty: it has what the next start
// needs.
func (f *flusher) stop() error {
	close(f.quit)
	f.done.Wait()
	if err := f.flush(); err != nil {
		return fmt.Errorf("the journal of uploads is not empty; the next start goes on with it: %w", err)
	}
	return nil
}

// note takes down that a file was written. The caller has it open, so that no error of the
// disk is forgotten before there is a handle here.
func (f *flusher) note(t *tenant, p *plan) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.owed[t.org]
	if o == nil || o.synced {
		o = &owed{org: t.org, id: p.change.Head.ID, base: p.change.Head.Base}
		o.keepOpen(f)
		f.owed[t.org] = o
	}
	o.length = p.change.Head.Length
	o.fresh = o.fresh || p.change.Journal.Start == 0
	f.bytes += p.change.Head.Length - p.change.Journal.Start
	if f.bytes >= flushBytes || len(f.owed) >= flushFiles {
		f.hurry()
	}
}

func (f *flusher) hurry() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// flush brings to disk what is owed now.
func (f *flusher) flush() error {
	f.turn.Lock()
	defer f.turn.Unlock()
	all := f.next()
	if len(all) == 0 {
		return nil
	}
	f.sync(all)
	var synced []*owed
	var errs []error
	for _, o := range all {
		if o.err != nil {
			errs = append(errs, o.err)
			f.keep(o)
			continue
		}
		o.synced, o.fresh = true, false
		synced = append(synced, o)
	}
	return errors.Join(append(errs, f.empty(synced))...)
}

// empty takes from the journal what is on disk in the files. It owes that after an error.
func (f *flusher) empty(synced []*owed) error {
	if len(synced) == 0 {
		return nil
	}
	whole := make([]index.Flushed, len(synced))
	for i, o := range synced {
		whole[i] = index.Flushed{ID: o.id, Length: o.length}
	}
	err := f.store.index.Flush(whole)
	if err != nil && !f.told {
		f.store.log.Warn("journal of uploads not emptied; it is tried again", "files", len(synced), "err", err)
	}
	if f.told = err != nil; !f.told {
		return nil
	}
	for _, o := range synced {
		f.keep(o)
	}
	return err
}

func (f *flusher) next() []*owed {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]*owed, 0, len(f.owed))
	for _, o := range f.owed {
		all = append(all, o)
	}
	clear(f.owed)
	f.bytes = 0
	return all
}

// keep owes a file again, as far as nobody has begun to.
func (f *flusher) keep(o *owed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if newer := f.owed[o.org]; newer != nil {
		newer.err, newer.fresh = o.err, newer.fresh || o.fresh
		return
	}
	f.owed[o.org] = o
}

// sync syncs files, several at once so that the file system joins their commits, and the
// folder once.
func (f *flusher) sync(all []*owed) {
	places, fresh := newSlots(flushAtOnce), false
	var running sync.WaitGroup
	for _, o := range all {
		if o.synced {
			continue
		}
		fresh = fresh || o.fresh
		places <- struct{}{}
		running.Go(func() {
			defer places.release()
			o.sync(f)
		})
	}
	running.Wait()
	if !fresh {
		return
	}
	if err := folder.Sync(f.store.dir); err != nil {
		for _, o := range all {
			if !o.synced {
				o.err = errors.Join(o.err, fileError(err))
			}
		}
	}
}

// trouble tries again to flush an organization's file that could not be flushed, and
// returns why it still can't. Nothing is appended to it meanwhile.
func (f *flusher) trouble(org uuid.UUID) error {
	if f.failed(org) == nil {
		return nil
	}
	_ = f.flush()
	return f.failed(org)
}

func (f *flusher) failed(org uuid.UUID) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.owed[org]; o != nil {
		return o.err
	}
	return nil
}
