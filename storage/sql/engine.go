package sqluploads

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/pgdb"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// engine is what the servers do differently, beside their SQL. It is written in the log without secrets.
type engine interface {
	fmt.Stringer
	slog.LogValuer
	dialect() dialect
	log() *slog.Logger
	// open returns a pool of connections, of which none is made yet.
	open() (*sql.DB, error)
	// Await sets up what needs the server, and tries again while that is away, for at most the given time, unless
	// that is zero.
	Await(ctx context.Context, most time.Duration, setUp func(context.Context) error) error
	// migrate makes the database's tables, after what stands in the way was looked for.
	migrate(ctx context.Context, db *sql.DB) error
	inspect(ctx context.Context, db querier) (*server, error)
	// isRefusedJSON says whether the server takes a text for no JSON of its kind.
	isRefusedJSON(error) bool
	// fault turns what the driver and the server say into a fault.
	fault(error) error
}

// engineOf returns the engine of the server that options name.
func engineOf(o Options) (engine, error) {
	if (o.MySQL == nil) == (o.Postgres == nil) {
		return nil, errors.New("sqluploads: one of Options.MySQL and Options.Postgres is needed")
	}
	if o.Postgres != nil {
		if o.Postgres.Log == nil {
			return nil, errors.New("sqluploads: Options.Postgres.Log is needed")
		}
		return postgres{*o.Postgres}, nil
	}
	server, err := o.MySQL.WithDefaults()
	return mysql{server}, err
}

// mysql is a server of MySQL's protocol.
type mysql struct{ mysqldb.Options }

func (e mysql) dialect() dialect { return dialect{sqldb.MySQL} }

func (e mysql) log() *slog.Logger { return e.Log }

func (e mysql) open() (*sql.DB, error) { return e.OpenPool(e.Name) }

func (e mysql) migrate(ctx context.Context, db *sql.DB) error {
	if err := e.Reach(ctx, db); err != nil {
		return err
	}
	var demoted bool
	if err := db.QueryRowContext(ctx, "SELECT "+mysqldb.Demoted).Scan(&demoted); err != nil {
		return err
	}
	if demoted { // a failover may be on its way, so it is waited for
		return fmt.Errorf("%w: %w", mysqldb.ErrDemoted, driver.ErrBadConn)
	}
	return e.Migrate(ctx, Schema(sqldb.MySQL))
}

// isRefusedJSON: it is a number beyond a double (MySQL, TiDB) or half of a surrogate pair (all of them).
func (e mysql) isRefusedJSON(err error) bool {
	return slices.Contains([]uint16{3140, 3141, 3146, 3157, 3903, 4025, 4038}, mysqldb.Number(err))
}

func (e mysql) fault(err error) error {
	return mysqldb.Texts{TooLarge: tooLarge + " (max_allowed_packet)", Away: away}.Fault(err)
}

// sample is what the first migration stores as JSON.
const sample = `{"b":1.0,"a":1}`

func (e mysql) inspect(ctx context.Context, db querier) (*server, error) {
	var text string
	var packet int
	if err := db.QueryRowContext(ctx, "SELECT sample, @@max_allowed_packet FROM inventory_probe WHERE id = 1").Scan(&text,
		&packet); err != nil {
		return nil, fmt.Errorf("ask the server about JSON and packets: %w", err)
	}
	s := &server{
		keepsText: text == sample,
		// Quoting at most doubles a text.
		statementBytes: min(1<<20, packet/4),
		valueBytes:     packet - 64<<10, // what else is in the packet is far shorter
		valueLimit:     "its max_allowed_packet",
	}
	var err error
	if s.collation, err = findCollation(ctx, db); err != nil {
		return nil, fmt.Errorf("ask the server for its collations: %w", err)
	}
	return s, nil
}

// postgres is a database of PostgreSQL's.
type postgres struct{ pgdb.Options }

func (e postgres) dialect() dialect { return dialect{sqldb.Postgres} }

func (e postgres) log() *slog.Logger { return e.Log }

func (e postgres) open() (*sql.DB, error) { return e.Plain(pgdb.AsTexts, nil).Open() }

func (e postgres) migrate(ctx context.Context, _ *sql.DB) error {
	if err := e.Check(ctx); err != nil {
		return err
	}
	return e.Migrate(ctx, Schema(sqldb.Postgres))
}

// isRefusedJSON: the type json takes every number and every pair of surrogates as it is.
func (e postgres) isRefusedJSON(error) bool { return false }

func (e postgres) fault(err error) error { return pgdb.Fault(err, tooLarge, away) }

func (e postgres) inspect(context.Context, querier) (*server, error) {
	return &server{keepsText: true, statementBytes: 1 << 20, valueBytes: 1 << 28,
		valueLimit: "a fourth of what PostgreSQL takes in a field"}, nil
}
