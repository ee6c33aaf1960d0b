package sqldb

import (
	"context"
	"database/sql"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/turns"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/pgdb"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// MaxRow is how many bytes a row may have at most. Larger things are kept in pieces.
const MaxRow = 1 << 20

// DB is a database. Make it with Open.
type DB struct {
	engine engine
	turns  *turns.Turns  // of those who read
	dirt   sqlitedb.Dirt // what Shred has deleted
}

// engine is what the databases do differently.
type engine interface {
	dialect() Dialect
	// write runs fn in a transaction of the organization's that is about to write so many bytes.
	write(ctx context.Context, org uuid.UUID, bytes int, fn func(Tx) error) error
	// writeOwn is write without anybody's turn.
	writeOwn(ctx context.Context, fn func(Tx) error) error
	// read runs fn in a transaction that sees one moment.
	read(ctx context.Context, fn func(Querier) error) error
	// ask runs fn without a transaction.
	ask(ctx context.Context, fn func(Querier) error) error
	explain(error) error
	// scrub makes sure that nothing of what was deleted is left in the database's files.
	scrub(ctx context.Context) error
	close() error
}

// Options say where the database is: at Path, on MySQL's server, or, with neither, in memory.
type Options struct {
	Path  string // absolute, of an SQLite database whose folder is the process's own
	File  *File  // an SQLite database of another store, instead of Path
	MySQL *mysqldb.Options
	// Postgres is a database of PostgreSQL's.
	Postgres *pgdb.Options
	// StartupWait bounds how long Open waits for a server that is not up yet; zero waits for as
	// long as it takes.
	StartupWait time.Duration
	// Patience bounds a read from a server, which may fall silent without ending its connections; zero means
	// half a minute.
	Patience time.Duration
	Log      *slog.Logger
}

// Querier asks the database. The rows of a query have to be closed before the next statement:
// All does that.
type Querier interface {
	Query(query string, args ...any) (*sql.Rows, error)
	QueryRow(query string, args ...any) *sql.Row
	Dialect() Dialect
}

// Tx is a transaction that may write.
type Tx interface {
	Querier
	Exec(query string, args ...any) (sql.Result, error)
}

// Open opens a database and brings its schema up to date. The caller closes it.
func Open(ctx context.Context, o Options) (*DB, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	e, places, err := openEngine(ctx, o)
	if err != nil {
		return nil, err
	}
	return &DB{engine: e, turns: turns.New(places, max(places/2, 1))}, nil
}

func openEngine(ctx context.Context, o Options) (engine, int, error) {
	switch {
	case o.MySQL != nil:
		return openMySQL(ctx, o)
	case o.Postgres != nil:
		return openPostgres(ctx, o)
	case o.Path != "":
		return openSQLite(ctx, RunsFile(o.Path), o.Log)
	case o.File != nil:
		return openSQLite(ctx, *o.File, o.Log)
	default:
		return openMemory(ctx, o.Log)
	}
}

// Write runs fn in a transaction, and returns nil when what it wrote is durable. An error of
// fn's undoes all of it and is what Write returns.
//
// Transactions of one organization run one after another, whichever node they are on: fn sees
// all that those before it wrote, and nobody writes in between. uuid.Nil stands for the store's
// own work; what that changes of an organization must be conditional on what it is by then.
//
// fn may run several times, from the beginning, when a transaction lost against another or its
// batch failed: beside the transaction it must change nothing that a further run does not set
// anew. It must not call the DB, and not wait for anything: on SQLite everybody waits for it.
//
// After an error of fault.StoreUnavailable it may turn out to have happened all the same: who
// tries again finds out by what it wrote. When ctx ends before it begins, nothing is done; what
// has begun is carried out.
func (d *DB) Write(ctx context.Context, org uuid.UUID, fn func(Tx) error) error {
	return d.WriteBytes(ctx, org, 0, fn)
}

// WriteBytes is Write of about so many bytes, which bounds what shares one transaction.
func (d *DB) WriteBytes(ctx context.Context, org uuid.UUID, bytes int, fn func(Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return d.engine.explain(d.engine.write(ctx, org, bytes, fn))
}

// WriteOwn is Write of rows that nobody but the caller writes, such as what a node says of itself, or of which
// the first one that is added counts: it waits
// for no transaction of others, so a node that stops in the middle of one doesn't keep the others silent.
func (d *DB) WriteOwn(ctx context.Context, fn func(Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return d.engine.explain(d.engine.writeOwn(ctx, fn))
}

// Read runs fn in a transaction that sees the database as it was at one moment. It waits for
// its organization's turn: uuid.Nil is the store itself. fn must not call the DB.
func (d *DB) Read(ctx context.Context, org uuid.UUID, fn func(Querier) error) error {
	release, err := d.turns.Acquire(ctx, org)
	if err != nil {
		return err
	}
	defer release()
	return d.engine.explain(d.engine.read(ctx, fn))
}

// Ask runs fn as Read does, but without a transaction, which takes several round trips more: each
// statement sees a moment of its own. fn ends one statement's rows before it asks the next.
func (d *DB) Ask(ctx context.Context, org uuid.UUID, fn func(Querier) error) error {
	release, err := d.turns.Acquire(ctx, org)
	if err != nil {
		return err
	}
	defer release()
	return d.engine.explain(d.engine.ask(ctx, fn))
}

// Dialect says which SQL the database speaks.
func (d *DB) Dialect() Dialect { return d.engine.dialect() }

// Ready says whether a write would be accepted now, by making one.
func (d *DB) Ready(ctx context.Context) error {
	return d.Write(ctx, uuid.Nil, func(tx Tx) error {
		_, err := tx.Exec("UPDATE organizations SET bytes = bytes WHERE org = ?", uuid.Nil.String())
		return err
	})
}

// Close ends the use of the database, after what has begun.
func (d *DB) Close() error { return d.engine.close() }
