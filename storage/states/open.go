package states

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/internal/turns"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/pgdb"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// Options says where the database is and how it is used: on a server of MySQL's protocol, or on PostgreSQL.
type Options struct {
	MySQL    *mysqldb.Options
	Postgres *pgdb.Options
	Log      *slog.Logger
	// StartupWait bounds how long Open waits for a server that is not up yet. Zero waits
	// for as long as it takes.
	StartupWait time.Duration
	// AckFile is where a node notes what it has acknowledged lately, so that its next process can tell
	// whether the database still has it. Without one it is forgotten with the process.
	AckFile string
	// Now is the clock of the readiness probe, and of what is acknowledged; nil for time.Now.
	Now func() time.Time

	// Master has the master keys that states are sealed under.
	Master *seal.Master

	steps fs.FS // instead of the migrations; tests have another program's
}

// Store is a state.Store in a server's database. Make it with Open.
type Store struct {
	options Options
	server  server
	sql     dialect
	texts   texts
	log     *slog.Logger
	now     func() time.Time // this node's; see clock for what is compared with other nodes' times
	clock   clock
	bodies  *stateengine.Bodies

	// Connections that write are in a transaction from their first statement on; those that read
	// never are, so that each statement sees what is there by then.
	writers, readers *sql.DB
	transactor       *sqldb.Transactor
	lanes            lanes
	writing, heading *turns.Turns
	reading, listing *turns.Turns
	looks            int           // the constant; tests have few rows looked at
	patient          time.Duration // listTime; tests have no patience

	keys   *keys
	master atomic.Pointer[seal.Master]

	acks    *acks
	rewinds *rewinds
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
	server, err := serverOf(o)
	if err != nil {
		return nil, err
	}
	in := server.dialect()
	s := &Store{
		options: o, server: server, sql: in, texts: in.texts(), log: o.Log,
		now: o.Now, clock: clock{own: o.Now}, looks: looks, patient: listTime,
		ready: stateengine.NewReadiness(), moving: make(chan struct{}, 1),
	}
	s.moving <- struct{}{}
	s.share(server.connections())
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("database %v: %w", server, err), s.release())
	}
	background, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.spawned.Go(func() { s.keepUp(background) })
	return s, nil
}

// basesBytes bounds the bases of deltas that are kept in memory. One that is not there comes whole over the
// network, from the database that all nodes share, and is decoded and checked: that costs more than its delta.
const basesBytes = 128 << 20

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
	s.bodies.Bases = stateengine.NewBases(basesBytes)
	s.rewinds = &rewinds{refused: map[state.Ref]ack{}, owed: map[state.Ref]ack{}}
	if s.acks, err = openAcks(s.options.AckFile); err != nil {
		return err
	}
	of := s.texts
	if s.readers, err = s.server.readersPool(s.greet, of.head, of.current, of.version, of.newestOfOne); err != nil {
		return err
	}
	db, err := s.server.fewPool(keyConnections)
	if err != nil {
		return err
	}
	s.keys = &keys{s, db}
	if s.writers, err = s.server.writersPool(s.greet, of.lockHead, sqlUsage, sqlAskLock); err != nil {
		return err
	}
	s.transactor = sqldb.NewTransactor(s.sql.Dialect, s.writers, s.readers, "state_outcomes", s.log)
	return s.server.Await(ctx, s.options.StartupWait, s.setUp)
}

// setUp makes everything that the store needs of the server, and asks what it is like.
func (s *Store) setUp(ctx context.Context) error {
	of := Schema(s.sql.Dialect)
	if s.options.steps != nil {
		of.Steps = s.options.steps
	}
	if err := s.server.prepare(ctx, s.readers, of); err != nil {
		return err
	}
	if why := s.server.WhyNotDurable(ctx, s.readers); why != "" {
		s.log.WarnContext(ctx, "a crash of the database's server may take back what others have read already",
			"database", s.server, "settings", why)
	}
	if err := s.beginSealing(ctx); err != nil {
		return err
	}
	return s.followRewinds(ctx)
}

// leastPacket is what the server must take for a packet: a piece of a body whose every byte has to
// be quoted, and what is kept back beside it.
const leastPacket = 2*pieceBytes + 2*sqldb.BatchBytes

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
	if s.transactor != nil {
		s.transactor.Close()
	}
	if s.keys != nil {
		errs = append(errs, s.keys.db.Close())
	}
	for _, db := range []*sql.DB{s.writers, s.readers} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if s.bodies != nil {
		s.bodies.Close()
	}
	errs = append(errs, s.acks.close())
	return errors.Join(errs...)
}
