package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"
)

const (
	// serverIdle is when the server ends a session that says nothing. It rolls back the
	// transaction of a node that was cut off, and so frees the organization it had locked.
	serverIdle = 60 * time.Second
	// clientIdle is when we end an idle connection, before the server does.
	clientIdle = 45 * time.Second
	// lockWait is how long a statement waits for a lock before error 1205.
	lockWait = 10 * time.Second
)

// sessionSettings are in force on every connection, whatever the server's own are.
func sessionSettings() []string {
	return []string{
		"SET NAMES utf8mb4",
		// A transaction must see what another one committed while it waited for a lock; in
		// TiDB it would else see what there was when it began.
		"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
		fmt.Sprintf("SET time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', wait_timeout = %d, innodb_lock_wait_timeout = %d",
			int(serverIdle.Seconds()), int(lockWait.Seconds())),
	}
}

// connector makes connections that have the settings. The driver bounds only the dialing;
// a server that accepts and says nothing needs a bound for all of it.
type connector struct {
	driver.Connector
	timeout time.Duration
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	execer, ok := conn.(driver.ExecerContext)
	if !ok {
		return nil, errors.Join(errors.New("mysql: the driver's connection takes no statements"), conn.Close())
	}
	for _, statement := range sessionSettings() {
		if _, err := execer.ExecContext(ctx, statement, nil); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return conn, nil
}

// openPool returns a pool of connections to the database of this name. None is made yet.
func openPool(o Options, name string) (*sql.DB, error) {
	config, err := o.config(name)
	if err != nil {
		return nil, err
	}
	inner, err := mysqldriver.NewConnector(config)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector{inner, o.ConnectTimeout})
	db.SetMaxOpenConns(o.MaxOpenConns)
	db.SetMaxIdleConns(o.MaxIdleConns)
	db.SetConnMaxLifetime(o.ConnMaxLifetime)
	db.SetConnMaxIdleTime(clientIdle)
	return db, nil
}
