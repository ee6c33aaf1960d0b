package sqluploads

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/internal/pause"
)

// retryEvery is what passes between two attempts to mend what an operator has to.
const retryEvery = 15 * time.Second

// inspectTimeout bounds the questions that a new connection's server is asked.
const inspectTimeout = 15 * time.Second

// Open returns the store, once its server is up and the schema is up to date. While the
// server is away it waits and logs how it goes; what waiting can't mend, such as a wrong
// password, it returns at once. The caller closes the store.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Now == nil {
		return nil, errors.New("sqluploads: Options.Now is needed")
	}
	e, err := engineOf(o)
	if err != nil {
		return nil, err
	}
	db, err := e.open()
	if err != nil {
		return nil, fmt.Errorf("database %v: %w", e, err)
	}
	s := newStore(e, db, o.Now)
	if o.Background {
		s.spawn(s.prepareForever)
		return s, nil
	}
	if err := s.prepare(ctx, o.StartupWait); err != nil {
		return nil, errors.Join(fmt.Errorf("database %v: %w", e, err), s.Close())
	}
	return s, nil
}

// prepareForever is prepare for a store that was opened in the background: nobody is
// there to be told of an error, and an operator may mend it meanwhile.
func (s *Store) prepareForever(ctx context.Context) {
	for ctx.Err() == nil {
		err := s.prepare(ctx, 0)
		if err == nil || ctx.Err() != nil {
			return
		}
		s.log.ErrorContext(ctx, "the database can't be used; trying again", "database", s.engine, "error", err, "next",
			retryEvery.String())
		_ = pause.For(ctx, retryEvery)
	}
}

// prepare waits for the server, for at most the given time, unless that is zero.
func (s *Store) prepare(ctx context.Context, wait time.Duration) error {
	var found *server
	err := s.engine.Await(ctx, wait, func(ctx context.Context) (err error) {
		found, err = s.setUp(ctx)
		return err
	})
	if err != nil {
		return err
	}
	s.server.Store(found)
	return nil
}

// setUp makes everything that the store needs of the server, and asks what it is like.
func (s *Store) setUp(ctx context.Context) (*server, error) {
	// Without a bound of its own: it may wait for another node's migration, which takes as
	// long as it takes.
	if err := s.engine.migrate(ctx, s.db); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, inspectTimeout)
	defer cancel()
	found, err := s.engine.inspect(ctx, s.db)
	if err != nil {
		return nil, err
	}
	if found.secret, err = sharedSecret(ctx, s.db, s.speaks()); err != nil {
		return nil, fmt.Errorf("read the cursors' key: %w", err)
	}
	return found, nil
}
