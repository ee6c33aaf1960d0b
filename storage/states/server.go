package states

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/pgdb"
	"github.com/holdfast/holdfast/storage/schema"
	"github.com/holdfast/holdfast/storage/serverdb"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// server is a database server: what is done otherwise with one of MySQL's protocol than with PostgreSQL, beside SQL.
type server interface {
	serverdb.Database
	dialect() dialect
	connections() int
	// readersPool has connections that are in no transaction, and writersPool those that transactions are made on. New
	// ones of both are greeted, and the queries that come all the time stay prepared. fewPool has so many of the first
	// kind, which nobody greets.
	readersPool(greet func(context.Context, driver.Conn) error, often ...string) (*sql.DB, error)
	writersPool(greet func(context.Context, driver.Conn) error, often ...string) (*sql.DB, error)
	fewPool(n int) (*sql.DB, error)
	// Await sets up what needs the server, and tries again while that is away, for at most the given time, unless that is
	// zero.
	Await(ctx context.Context, most time.Duration, setUp func(context.Context) error) error
	// prepare reaches the server, refuses one that states can't be kept on, and brings the schema up to date.
	prepare(ctx context.Context, readers *sql.DB, of schema.Schema) error
	// lockSchema has nobody else migrate or repair the database until unlock is called.
	lockSchema(ctx context.Context, db *sql.DB) (unlock func() error, err error)
	// redial has a pool look anew where its address leads.
	redial(db *sql.DB)
	// WhyNotDurable names the settings by which a crash of the server may take back what was seen already, and
	// WhyReadOnly those by which it takes no writes; both are empty for none.
	WhyNotDurable(ctx context.Context, db *sql.DB) string
	WhyReadOnly(ctx context.Context, db *sql.DB) string
}

// serverOf returns the server of the options.
func serverOf(o Options) (server, error) {
	switch {
	case o.Postgres != nil:
		return postgres{*o.Postgres}, nil
	case o.MySQL != nil:
		m := *o.MySQL
		m.FoundRows = true // so that an UPDATE that changes nothing still says that there is a row
		m, err := m.WithDefaults()
		return mysql{m}, err
	}
	return nil, errors.New("states: the options name no server")
}

// mysql is a server of MySQL's protocol.
type mysql struct{ mysqldb.Options }

func (mysql) dialect() dialect { return dialect{sqldb.MySQL} }

func (m mysql) connections() int { return m.MaxOpenConns }

func (m mysql) readersPool(greet func(context.Context, driver.Conn) error, often ...string) (*sql.DB, error) {
	return m.Greeting(greet).Preparing(often...).OpenPool(m.Name)
}

func (m mysql) writersPool(greet func(context.Context, driver.Conn) error, often ...string) (*sql.DB, error) {
	return m.Greeting(greet).Writing().Preparing(often...).OpenPool(m.Name)
}

func (m mysql) fewPool(n int) (*sql.DB, error) {
	m.MaxOpenConns = n
	return m.OpenPool(m.Name)
}

func (m mysql) prepare(ctx context.Context, readers *sql.DB, of schema.Schema) error {
	if err := m.Reach(ctx, readers); err != nil {
		return err
	}
	if err := mysqldb.CheckServer(ctx, readers, leastPacket); err != nil {
		return err
	}
	// Without a bound of its own: it may wait for another node's migration, which takes as long as it takes.
	err := m.Migrate(ctx, of)
	if why := m.WhyReadOnly(ctx, readers); err != nil && why != "" {
		return fmt.Errorf("the server takes no writes, by its setting %s: %w", why, errors.New(err.Error()))
	}
	return err
}

func (m mysql) lockSchema(ctx context.Context, db *sql.DB) (unlock func() error, err error) {
	return m.LockSchema(ctx, db)
}

func (m mysql) redial(db *sql.DB) { m.Redial(db) }

// postgres is a server of PostgreSQL. It prepares what comes often by itself.
type postgres struct{ pgdb.Options }

func (postgres) dialect() dialect { return dialect{sqldb.Postgres} }

func (p postgres) connections() int { return cmp.Or(p.MaxOpenConns, pgdb.MaxOpenConns) }

func (p postgres) readersPool(greet func(context.Context, driver.Conn) error, _ ...string) (*sql.DB, error) {
	return p.Plain(pgdb.AsBytes, greet).Open()
}

func (p postgres) writersPool(greet func(context.Context, driver.Conn) error, _ ...string) (*sql.DB, error) {
	return p.Plain(pgdb.AsBytes, greet).Open()
}

func (p postgres) fewPool(n int) (*sql.DB, error) {
	p.MaxOpenConns, p.MaxIdleConns = n, n
	return p.Plain(pgdb.AsBytes, nil).Open()
}

func (p postgres) prepare(ctx context.Context, _ *sql.DB, of schema.Schema) (err error) {
	if err := p.Check(ctx); err != nil {
		return err
	}
	return p.Migrate(ctx, of)
}

func (p postgres) lockSchema(ctx context.Context, db *sql.DB) (unlock func() error, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	free, err := p.LockSchema(ctx, conn)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return func() error { return errors.Join(free(), conn.Close()) }, nil
}

// redial does nothing: a connection to a server that takes no writes any more is lost.
func (p postgres) redial(*sql.DB) {}
