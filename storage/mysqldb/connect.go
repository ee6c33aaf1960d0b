package mysqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"

	"github.com/holdfast/holdfast/storage/serverdb"
)

const (
	// serverIdle is when the server ends a session that says nothing. It rolls back the
	// transaction of a node that was cut off, and so frees the organization it had locked.
	serverIdle = 60 * time.Second
	// clientIdle is when we end an idle connection, before the server does.
	clientIdle = 45 * time.Second
	// AttemptTimeout bounds one attempt to reach the server and ask what it can.
	AttemptTimeout = 15 * time.Second
	// LockWait is how long a statement waits for a lock before error 1205.
	LockWait = 10 * time.Second
)

const (
	// writingIdle is when the server ends a writing session that says nothing, and with it the
	// transaction that it may be in: others wait for the rows that a stopped node has locked for
	// no longer than that.
	writingIdle       = 10 * time.Second
	writingClientIdle = 5 * time.Second
)

// writingSettings are in force on writing connections as well. Without autocommit a transaction
// takes no statement of its own to begin. The two other bounds are for a node that stops in the
// middle of a statement or of an answer.
func writingSettings() []string {
	seconds := int(writingIdle.Seconds())
	return []string{fmt.Sprintf("SET autocommit = 0, wait_timeout = %d, net_read_timeout = %d, net_write_timeout = %d",
		seconds, seconds, seconds)}
}

// Preparing returns options for a pool whose connections have these queries prepared.
func (o Options) Preparing(queries ...string) Options {
	o.often = map[string]bool{}
	for _, query := range queries {
		o.often[query] = true
	}
	return o
}

// Writing returns options for a pool of connections that are in a transaction from their first
// statement on, until COMMIT or ROLLBACK, and that take several statements at once, separated by
// semicolons. Their server ends a session that says nothing soon.
func (o Options) Writing() Options {
	o.writing = true
	return o
}

// Greet is handed each new connection of a pool before anything else is asked there. One that it has an
// error for is not used.
type Greet func(context.Context, driver.Conn) error

// Greeting returns options for a pool whose new connections are greeted.
func (o Options) Greeting(greet Greet) Options {
	o.greet = greet
	return o
}

// sessionSettings are in force on every connection, whatever the server's own are.
func sessionSettings() []string {
	return []string{
		"SET NAMES utf8mb4",
		// A transaction must see what another one committed while it waited for a lock; in
		// TiDB it would else see what there was when it began.
		"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
		fmt.Sprintf("SET time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', wait_timeout = %d, "+
			"innodb_lock_wait_timeout = %d",
			int(serverIdle.Seconds()), int(LockWait.Seconds())),
	}
}

// connector makes connections that have the settings. The driver bounds only the dialing;
// a server that accepts and says nothing needs a bound for all of it.
type connector struct {
	driver.Connector
	timeout time.Duration
	writing bool
	often   map[string]bool
	greet   Greet // nil for none
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	made, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	able, ok := made.(conn)
	if !ok {
		return nil, errors.Join(errors.New("mysqldb: the driver's connection can't do what is asked of it"), made.Close())
	}
	settings := sessionSettings()
	if c.writing {
		settings = append(settings, writingSettings()...)
	}
	for _, statement := range settings {
		if _, err := able.ExecContext(ctx, statement, nil); err != nil {
			return nil, errors.Join(err, able.Close())
		}
	}
	if c.greet != nil {
		if err := c.greet(ctx, able); err != nil {
			return nil, errors.Join(err, able.Close())
		}
	}
	return &preparing{conn: able, often: c.often, prepared: map[string]driver.StmtQueryContext{}}, nil
}

// OpenPool returns a pool of connections to the database of this name; without a name, to
// the server. None is made yet.
func (o Options) OpenPool(name string) (*sql.DB, error) {
	config, err := o.config(name)
	if err != nil {
		return nil, err
	}
	inner, err := mysqldriver.NewConnector(config)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector{inner, o.ConnectTimeout, o.writing, o.often, o.greet})
	db.SetMaxOpenConns(o.MaxOpenConns)
	db.SetMaxIdleConns(o.MaxIdleConns)
	db.SetConnMaxLifetime(o.ConnMaxLifetime)
	db.SetConnMaxIdleTime(clientIdle)
	if o.writing {
		db.SetConnMaxIdleTime(writingClientIdle)
	}
	return db, nil
}

// Reach connects to the database, and makes it when the server has none of this name.
func (o Options) Reach(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, AttemptTimeout)
	defer cancel()
	err := db.PingContext(ctx)
	if Number(err) != errUnknownDatabase {
		return err
	}
	if err := o.createDatabase(ctx); err != nil {
		return fmt.Errorf("the server has no database %q, and it can't be made; let an administrator run CREATE DATABASE "+
			"and grant all rights on it: %w", o.Name, err)
	}
	o.Log.WarnContext(ctx, "the server had no such database: made it", "database", o)
	return db.PingContext(ctx)
}

func (o Options) createDatabase(ctx context.Context) (err error) {
	o.MaxOpenConns, o.MaxIdleConns = 1, 1
	db, err := o.OpenPool("")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS "+Quoted(o.Name)+" CHARACTER SET utf8mb4")
	return err
}

// Quoted is a table's or database's name as a statement has it.
func Quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// Await sets up what needs the server, and tries again while that is away, for at most the
// given time, unless that is zero. What waiting can't mend, such as a wrong password, it returns
// at once.
func (o Options) Await(ctx context.Context, most time.Duration, setUp func(context.Context) error) error {
	return serverdb.Await(ctx, o, o.Log, most, func(err error) bool { return IsAway(err) || IsConflict(err) }, setUp)
}
