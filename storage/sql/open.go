package sqluploads

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/storage/mysqldb"
)

// retryEvery is what passes between two attempts to mend what an operator has to.
const retryEvery = 15 * time.Second

// Open returns the store, once its server is up and the schema is up to date. While the
// server is away it waits and logs how it goes; what waiting can't mend, such as a wrong
// password, it returns at once. The caller closes the store.
func Open(ctx context.Context, options Options) (*Store, error) {
	o, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	db, err := o.OpenPool(o.Name)
	if err != nil {
		return nil, fmt.Errorf("database %v: %w", o, err)
	}
	s := newStore(o, db)
	if o.Background {
		s.spawn(s.prepareForever)
		return s, nil
	}
	if err := s.prepare(ctx, o.StartupWait); err != nil {
		return nil, errors.Join(fmt.Errorf("database %v: %w", o, err), s.Close())
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
		s.log.ErrorContext(ctx, "the database can't be used; trying again", "database", s.options, "error", err, "next",
			retryEvery.String())
		sleep(ctx, retryEvery)
	}
}

// prepare waits for the server, for at most the given time, unless that is zero.
func (s *Store) prepare(ctx context.Context, wait time.Duration) error {
	var found *server
	err := s.options.Await(ctx, wait, func(ctx context.Context) (err error) {
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
	if err := s.options.Reach(ctx, s.db); err != nil {
		return nil, err
	}
	// Without a bound of its own: it may wait for another node's migration, which takes as
	// long as it takes.
	if err := s.options.Migrate(ctx, uploadSchema()); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, mysqldb.AttemptTimeout)
	defer cancel()
	return inspect(ctx, s.db)
}

// sleep returns after d, or when ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// querier is what both a pool and a connection of it can do.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}
