package sqldb

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/storage/pgdb"
)

// postgres is a database of PostgreSQL's.
type postgres struct{ server }

func openPostgres(ctx context.Context, options Options) (engine, int, error) {
	o := *options.Postgres
	o.Log = cmp.Or(o.Log, options.Log)
	db, err := o.Plain(pgdb.AsTexts, nil).Open()
	if err != nil {
		return nil, 0, err
	}
	err = o.Await(ctx, options.StartupWait, func(ctx context.Context) error {
		if err := o.Check(ctx); err != nil {
			return err
		}
		return o.Migrate(ctx, Schema(Postgres))
	})
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("database %v: %w", o, err), db.Close())
	}
	e := &postgres{newServer(Postgres, db, db, options)}
	return e, max(db.Stats().MaxOpenConnections/2, 1), nil
}
