package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/pgdb"
)

// postgres is a database of PostgreSQL's, which several nodes may share.
type postgres struct {
	db      *sql.DB
	patient time.Duration // with a read
}

func openPostgres(ctx context.Context, options Options) (engine, int, error) {
	o := *options.Postgres
	o.Log = cmp.Or(o.Log, options.Log)
	db, err := o.Open()
	if err != nil {
		return nil, 0, err
	}
	err = o.Await(ctx, options.StartupWait, func(ctx context.Context) error {
		if err := pgdb.Check(ctx, db); err != nil {
			return err
		}
		return o.Migrate(ctx, db, schemaOf(Postgres))
	})
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("database %v: %w", o, err), db.Close())
	}
	return &postgres{db, cmp.Or(options.Patience, readTimeout)}, max(db.Stats().MaxOpenConnections/2, 1), nil
}

func (e *postgres) dialect() Dialect { return Postgres }

func (e *postgres) explain(err error) error { return pgdb.Fault(err, texts().TooLarge, texts().Away) }

// scrub leaves its files to the server.
func (e *postgres) scrub(context.Context) error { return nil }

func (e *postgres) close() error { return e.db.Close() }

func (e *postgres) read(ctx context.Context, fn func(Querier) error) error {
	ctx, cancel := context.WithTimeout(ctx, e.patient)
	defer cancel()
	return readOn(ctx, e.db, Postgres, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}, fn)
}

func (e *postgres) ask(ctx context.Context, fn func(Querier) error) error {
	ctx, cancel := context.WithTimeout(ctx, e.patient)
	defer cancel()
	return askOn(ctx, e.db, Postgres, fn)
}

func (e *postgres) write(ctx context.Context, org uuid.UUID, _ int, fn func(Tx) error) error {
	return insist(ctx, e.db, Postgres, func(t sqlTx) error {
		if err := lockOrganization(t, org); err != nil {
			return err
		}
		return fn(t)
	})
}

func (e *postgres) writeOwn(ctx context.Context, fn func(Tx) error) error {
	return insist(ctx, e.db, Postgres, func(t sqlTx) error { return fn(t) })
}
