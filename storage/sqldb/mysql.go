package sqldb

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/storage/mysqldb"
)

// mysql is a database on a server of MySQL's protocol. The server soon ends a session of its writers that stops in the
// middle, and frees what that has locked.
type mysql struct {
	server
	options mysqldb.Options
}

func openMySQL(ctx context.Context, options Options) (engine, int, error) {
	o := *options.MySQL
	o.FoundRows = true // so that an UPDATE that changes nothing still says that there is a row
	o, err := o.WithDefaults()
	if err != nil {
		return nil, 0, err
	}
	db, err := o.OpenPool(o.Name)
	if err != nil {
		return nil, 0, err
	}
	writers, err := o.Writing().OpenPool(o.Name)
	if err != nil {
		return nil, 0, errors.Join(err, db.Close())
	}
	err = o.Await(ctx, options.StartupWait, func(ctx context.Context) error {
		if err := o.Reach(ctx, db); err != nil {
			return err
		}
		return o.Migrate(ctx, Schema(MySQL))
	})
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("database %v: %w", o, err), db.Close(), writers.Close())
	}
	return &mysql{newServer(MySQL, db, writers, options), o}, max(o.MaxOpenConns/2, 1), nil
}

func (e *mysql) read(ctx context.Context, fn func(Querier) error) error {
	return e.unlessDemoted(e.server.read(ctx, current(fn)))
}

func (e *mysql) ask(ctx context.Context, fn func(Querier) error) error {
	return e.unlessDemoted(e.server.ask(ctx, current(fn)))
}

// current has what fn reads count only if the server takes writes afterwards: otherwise another one may
// have newer data, by which keys and sessions have ended, say.
func current(fn func(Querier) error) func(Querier) error {
	return func(q Querier) error {
		answer := fn(q)
		var demoted bool
		_, err := One(q, []any{&demoted}, "SELECT "+mysqldb.Demoted)
		switch {
		case demoted:
			return mysqldb.ErrDemoted
		case answer != nil:
			return answer
		}
		return err
	}
}

// unlessDemoted has the next call look for the server that takes writes, if this one's has none.
func (e *mysql) unlessDemoted(err error) error {
	if errors.Is(err, mysqldb.ErrDemoted) {
		e.options.Redial(e.db)
	}
	return err
}
