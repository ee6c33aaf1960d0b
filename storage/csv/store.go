package csv

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/turns"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/csv/index"
	"github.com/holdfast/holdfast/storage/folder"
)

// Options say where and how to keep uploads.
type Options struct {
	Dir string           // made, only for its owner, if it is missing
	Log *slog.Logger     // nothing is logged without one
	Now func() time.Time // time.Now without one
	// OpenFiles bounds how many of the organizations' files are open at a time; 256
	// without it, at least 16.
	OpenFiles int

	open       opener // how files are opened for appending
	openRead   func(path string) (readFile, error)
	rename     func(from, to string) error
	flushEvery time.Duration
}

// Store is an inventory.Store in CSV files.
type Store struct {
	dir   string
	log   *slog.Logger
	now   func() time.Time
	lock  *flock.Flock
	index *index.Index
	life  *lifetime

	tenants *tenants
	files   *fileCache
	active  slots        // organizations that are being appended to
	reads   *turns.Turns // for the files that are being read

	openRead func(path string) (readFile, error)
	rename   func(from, to string) error
	buffers  buffers

	mu       sync.Mutex
	foreign  map[uuid.UUID]bool        // files that Open found and the index does not know
	unmended map[uuid.UUID]index.Entry // files that the disk kept Open from mending

	probe   probe
	pruner  pruner
	flusher *flusher
}

var _ inventory.Store = (*Store)(nil)

// Open opens the store in a directory, which is then this process's alone. It puts back what
// a crash took from the files, finds torn tails and cuts them off; files that another program wrote are read on first
// use.
func Open(ctx context.Context, o Options) (_ *Store, err error) {
	o = o.withDefaults()
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, err
	}
	if err := folder.Make(o.Dir); err != nil {
		return nil, fmt.Errorf("make %s: %w", o.Dir, err)
	}
	s := &Store{dir: o.Dir, log: o.Log, now: o.Now, life: newLifetime(), openRead: o.openRead, rename: o.rename,
		foreign: map[uuid.UUID]bool{}, unmended: map[uuid.UUID]index.Entry{}}
	reads := o.OpenFiles / 8
	s.active, s.reads = newSlots(o.OpenFiles/4), turns.New(reads, max(reads/4, 1))
	s.files = newFileCache(o.OpenFiles-cap(s.active)-reads-flushFiles-flushAtOnce, o.open)
	s.flusher = newFlusher(s)
	s.tenants = newTenants(s)
	s.probe.path = filepath.Join(o.Dir, probeName)
	if s.lock, err = folder.Take(o.Dir, lockName); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.release())
		}
	}()
	if s.index, err = index.Open(ctx, filepath.Join(o.Dir, indexName), o.Log); err != nil {
		return nil, err
	}
	if err := s.mend(ctx); err != nil {
		return nil, fmt.Errorf("look at the upload files in %s, by their index %s: %w", o.Dir, indexName, err)
	}
	s.pruner.start(s)
	s.flusher.start(o.flushEvery)
	return s, nil
}

// mend makes up for what a crash did.
func (s *Store) mend(ctx context.Context) error {
	if err := s.placeAllKept(ctx); err != nil {
		return err
	}
	if err := s.refill(ctx); err != nil {
		return err
	}
	return s.recover(ctx)
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.OpenFiles == 0 {
		o.OpenFiles = 256
	}
	o.OpenFiles = max(o.OpenFiles, 16)
	if o.open == nil {
		o.open = openFile
	}
	if o.openRead == nil {
		o.openRead = openRead
	}
	if o.rename == nil {
		o.rename = os.Rename
	}
	if o.flushEvery == 0 {
		o.flushEvery = flushEvery
	}
	return o
}

// Close implements inventory.Store.
func (s *Store) Close() error {
	if !s.life.end() {
		return nil
	}
	s.pruner.stop()
	return errors.Join(s.flusher.stop(), s.release())
}

func (s *Store) release() error {
	s.files.close()
	s.tenants.close()
	if s.index == nil {
		return s.lock.Close()
	}
	return errors.Join(s.index.Close(), s.lock.Close())
}

func (s *Store) path(org uuid.UUID) string {
	return filepath.Join(s.dir, org.String()+suffix)
}
