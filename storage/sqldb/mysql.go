package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/mysqldb"
)

// mysql is a database that several nodes may share.
type mysql struct {
	db      *sql.DB // for reads
	writers *sql.DB // whose server soon ends a session that stops in the middle, and frees what it has locked
	options mysqldb.Options
	patient time.Duration // with a read
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
		return o.Migrate(ctx, schemaOf(MySQL))
	})
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("database %v: %w", o, err), db.Close(), writers.Close())
	}
	return &mysql{db, writers, o, cmp.Or(options.Patience, readTimeout)}, max(o.MaxOpenConns/2, 1), nil
}

func (e *mysql) dialect() Dialect { return MySQL }

func (e *mysql) explain(err error) error { return mysqlError(err) }

// scrub leaves its files to the server.
func (e *mysql) scrub(context.Context) error { return nil }

func (e *mysql) close() error { return errors.Join(e.writers.Close(), e.db.Close()) }

// read sees one moment: the connections' own isolation level sees each statement's.
func (e *mysql) read(ctx context.Context, fn func(Querier) error) error {
	ctx, cancel := context.WithTimeout(ctx, e.patient)
	defer cancel()
	return e.unlessDemoted(readOn(ctx, e.db, MySQL, &sql.TxOptions{Isolation: sql.LevelRepeatableRead}, current(fn)))
}

func (e *mysql) ask(ctx context.Context, fn func(Querier) error) error {
	ctx, cancel := context.WithTimeout(ctx, e.patient)
	defer cancel()
	return e.unlessDemoted(askOn(ctx, e.db, MySQL, current(fn)))
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

func (e *mysql) write(ctx context.Context, org uuid.UUID, _ int, fn func(Tx) error) error {
	return insist(ctx, e.writers, MySQL, func(t sqlTx) error {
		if err := lockOrganization(t, org); err != nil {
			return err
		}
		return fn(t)
	})
}

func (e *mysql) writeOwn(ctx context.Context, fn func(Tx) error) error {
	return insist(ctx, e.writers, MySQL, func(t sqlTx) error { return fn(t) })
}
