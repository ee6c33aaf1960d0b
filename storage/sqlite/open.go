package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"github.com/holdfast/holdfast/internal/turns"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/folder"
	"github.com/holdfast/holdfast/storage/sqlitedb"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	// readerCount is how many reads of single states run at once, listerCount how many lists:
	// no list ever keeps Current, Head, Version or Ready waiting.
	readerCount = 6
	listerCount = 3
	// bodyCount is how many bodies are read and decoded at once: some readers are left for
	// heads and for Ready.
	bodyCount = readerCount - 2
	// listsEach and bodiesEach are how many of them are one organization's at once. The others
	// are for others.
	listsEach  = 1
	bodiesEach = bodyCount - 1
	// One transaction takes what is queued up to these limits, the last job included.
	batchJobs  = 256
	batchBytes = 64 << 20
)

// Options are what Open needs to know.
type Options struct {
	// Dir is the directory of the database and its lock file. Open makes it if needed.
	Dir string
	// Log is told of migrations and of trouble; nil for none.
	Log *slog.Logger
	// Now is the clock; nil for time.Now.
	Now func() time.Time
	// Master has the master keys that states are sealed under.
	Master *seal.Master
}

// Store is a state.Store in an SQLite database. Make it with Open.
type Store struct {
	now    func() time.Time
	bodies *stateengine.Bodies

	path      string // of the database
	log       *slog.Logger
	lock      *flock.Flock
	session   *session // the writer's jobs alone use it
	writer    *sqlitedb.Writer
	readers   chan *reader // the idle ones
	listers   chan *reader // the idle ones of those that lists use
	turns     *turns.Turns // for those
	bodyTurns *turns.Turns
	looks     int           // the constant; tests have few rows looked at
	patient   time.Duration // listTime; tests have no patience
	ready     *stateengine.Readiness
	uncounted error // why Totals has nothing to say; nil as a rule

	sweeper *sweeper
	keys    *keys
	master  atomic.Pointer[seal.Master]

	gate stateengine.Gate
}

// Open opens the store in a directory, or makes a new one there, and brings its schema up
// to date. It fails when another process has the directory or the database open, when the database was
// made by a newer Holdfast, when it is not Holdfast's at all, and when it was sealed under other master keys.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{
		now:     o.Now,
		log:     o.Log,
		session: newSession(o.Now),

		readers:   make(chan *reader, readerCount),
		listers:   make(chan *reader, listerCount),
		turns:     turns.New(listerCount, listsEach),
		bodyTurns: turns.New(bodyCount, bodiesEach),
		looks:     looks,
		patient:   listTime,
		ready:     stateengine.NewReadiness(),
		sweeper:   newSweeper(),
	}
	if err := s.open(ctx, o); err != nil {
		return nil, errors.Join(fmt.Errorf("open the state store in %s: %w", o.Dir, err), s.release())
	}
	if err := s.resumeSweep(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open the state store in %s: %w", o.Dir, err), s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, o Options) (err error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return err
	}
	if err := folder.Make(dir); err != nil {
		return err
	}
	if s.lock, err = folder.Take(dir, lockName); err != nil {
		return err
	}
	if s.bodies, err = stateengine.NewBodies(s.findBase); err != nil {
		return err
	}
	s.session.seals = s.bodies.Seals
	s.path = filepath.Join(dir, databaseName)
	if err := s.connect(ctx); err != nil {
		return err
	}
	return s.beginSealing(ctx, o)
}

// connect opens the writer, which migrates, and only then the connections that read.
func (s *Store) connect(ctx context.Context) (err error) {
	s.writer, err = sqlitedb.NewWriter(ctx, sqlitedb.Options{
		File: databaseFile(s.path), Migrate: migrate, Log: s.log, Jobs: batchJobs, Bytes: batchBytes,
		Connected: s.session.connected, Begun: s.session.begun,
		Ending: s.session.ending, Committed: s.session.committed, Undone: s.session.undone,
		Explain: func(err error) error { return writeError(err, s.tryDisk) },
	})
	if err != nil {
		return err
	}
	if err := errors.Join(openReaders(ctx, s.path, s.readers), openReaders(ctx, s.path, s.listers)); err != nil {
		return err
	}
	if s.uncounted = s.takeCensus(ctx); s.uncounted != nil {
		s.log.ErrorContext(ctx, "the states can't be counted; metrics have none of them until the next start", "error",
			s.uncounted)
	}
	return ctx.Err()
}

// Close implements state.Store. It leaves the database in one file, without a WAL.
func (s *Store) Close() error {
	if !s.gate.Shut() {
		return nil
	}
	s.sweeper.stop() // some calls wait for a sweep
	s.gate.Wait()
	s.sweeper.close()
	return s.release()
}

// release gives back what open took, as far as it came.
func (s *Store) release() error {
	var errs []error
	for _, idle := range []chan *reader{s.readers, s.listers} {
		for len(idle) > 0 {
			errs = append(errs, (<-idle).close())
		}
	}
	if s.keys != nil {
		errs = append(errs, s.keys.reader.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.Close())
	}
	if s.bodies != nil {
		s.bodies.Close()
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return errors.Join(errs...)
}
