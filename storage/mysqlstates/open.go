package mysqlstates

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/internal/turns"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// Options says where the database is and how it is used.
type Options struct {
	mysqldb.Options
	// StartupWait bounds how long Open waits for a server that is not up yet. Zero waits
	// for as long as it takes.
	StartupWait time.Duration
	// Now is the clock of the readiness probe; nil for time.Now.
	Now func() time.Time
}

// Store is a state.Store in a MySQL-protocol database. Make it with Open.
type Store struct {
	options Options
	log     *slog.Logger
	now     func() time.Time
	bodies  *stateengine.Bodies

	// Connections that write are in a transaction from their first statement on; those that read
	// never are, so that each statement sees what is there by then.
	writers, readers *sql.DB
	lanes            lanes
	writing, heading *turns.Turns
	reading, listing *turns.Turns
	looks            int           // the constant; tests have few rows looked at
	patient          time.Duration // listTime; tests have no patience

	ready   *stateengine.Readiness
	moving  chan struct{} // has one token: who took it moves the journal on
	owed    atomic.Bool   // the journal may have something of ours
	gate    stateengine.Gate
	stop    context.CancelFunc
	spawned sync.WaitGroup
}

var _ state.Store = (*Store)(nil)

// Open returns the store, once its server is up and the schema is up to date. While the
// server is away it waits and logs how it goes; what waiting can't mend, such as a wrong
// password, a server that is read-only or one whose max_allowed_packet is too small, it returns at
// once. The caller closes the store.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.FoundRows = true // so that an UPDATE that changes nothing still says that there is a row
	options, err := o.Options.WithDefaults()
	if err != nil {
		return nil, err
	}
	o.Options = options
	s := &Store{
		options: o, log: o.Log, now: o.Now, looks: looks, patient: listTime,
		ready: stateengine.NewReadiness(), moving: make(chan struct{}, 1),
	}
	s.moving <- struct{}{}
	s.share(o.MaxOpenConns)
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("database %v: %w", o.Options, err), s.release())
	}
	background, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.spawned.Go(func() { s.keepUp(background) })
	return s, nil
}

// share divides the connections of the readers, so that neither bodies nor lists keep heads
// waiting, and no organization keeps others from any of them.
func (s *Store) share(connections int) {
	part := func(n int) *turns.Turns {
		n = max(n, 2)
		return turns.New(n, max(n*3/4, 1))
	}
	s.writing, s.heading = part(connections), part(connections/2)
	s.reading, s.listing = part(connections/4), part(connections/4)
}

func (s *Store) open(ctx context.Context) (err error) {
	if s.bodies, err = stateengine.NewBodies(s.findBase); err != nil {
		return err
	}
	o := s.options.Options
	if s.readers, err = o.OpenPool(o.Name); err != nil {
		return err
	}
	if s.writers, err = o.Writing().OpenPool(o.Name); err != nil {
		return err
	}
	return o.Await(ctx, s.options.StartupWait, s.setUp)
}

// setUp makes everything that the store needs of the server, and asks what it is like.
func (s *Store) setUp(ctx context.Context) error {
	o := s.options.Options
	if err := o.Reach(ctx, s.readers); err != nil {
		return err
	}
	if err := mysqldb.CheckServer(ctx, s.readers, leastPacket); err != nil {
		return err
	}
	// Without a bound of its own: it may wait for another node's migration, which takes as
	// long as it takes.
	err := o.Migrate(ctx, stateSchema())
	if why := o.WhyReadOnly(ctx, s.readers); err != nil && why != "" {
		return fmt.Errorf("the server takes no writes, by its setting %s: %w", why, errors.New(err.Error()))
	}
	return err
}

// leastPacket is what the server must take for a packet: a piece of a body whose every byte has to
// be quoted, and what is kept back beside it.
const leastPacket = 2*pieceBytes + 2*batchBytes

// Close implements state.Store.
func (s *Store) Close() error {
	if !s.gate.Shut() {
		return nil
	}
	s.gate.Wait()
	s.stop()
	s.spawned.Wait()
	return s.release()
}

// release gives back what open took, as far as it came.
func (s *Store) release() error {
	var errs []error
	for _, db := range []*sql.DB{s.writers, s.readers} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if s.bodies != nil {
		s.bodies.Close()
	}
	return errors.Join(errs...)
}
