package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// memory is an SQLite database that is gone with the process, on one connection.
type memory struct{ db *sql.DB }

func openMemory(ctx context.Context, log *slog.Logger) (engine, int, error) {
	db, err := sqlitedb.OpenMemory(pragmas())
	if err != nil {
		return nil, 0, err
	}
	if err := migrateSQLite(ctx, db, log); err != nil {
		return nil, 0, errors.Join(err, db.Close())
	}
	return &memory{db}, 2, nil
}

func (e *memory) dialect() Dialect { return SQLite }

func (e *memory) write(_ context.Context, _ uuid.UUID, _ int, fn func(Tx) error) error {
	return transact(context.Background(), e.db, SQLite, nil, func(t sqlTx) error { return fn(t) })
}

func (e *memory) writeOwn(ctx context.Context, fn func(Tx) error) error {
	return e.write(ctx, uuid.Nil, 0, fn)
}

func (e *memory) read(ctx context.Context, fn func(Querier) error) error {
	return readOn(ctx, e.db, SQLite, &sql.TxOptions{ReadOnly: true}, fn)
}

func (e *memory) ask(ctx context.Context, fn func(Querier) error) error {
	return askOn(ctx, e.db, SQLite, fn)
}

func (e *memory) explain(err error) error { return sqliteError(err) }

// scrub has no files.
func (e *memory) scrub(context.Context) error { return nil }

func (e *memory) close() error { return e.db.Close() }
