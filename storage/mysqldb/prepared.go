package mysqldb

import (
	"context"
	"database/sql/driver"
)

// conn is what a connection of the driver can do, and database/sql asks for.
type conn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

// preparing is a connection on which the queries that come all the time are prepared when they come
// first: to parse a long one takes the server longer than to answer it.
type preparing struct {
	conn
	often    map[string]bool // the texts of those queries
	prepared map[string]driver.StmtQueryContext
}

// The errors of a server that prepares no more statements, and of one that has lost a prepared one.
const (
	errTooManyPrepared = 1461
	errPrepareAgain    = 1615
)

// QueryContext implements driver.QueryerContext. The statement ends with the connection. What can't be
// prepared is asked as it is.
func (c *preparing) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if !c.often[query] {
		return c.conn.QueryContext(ctx, query, args)
	}
	statement, err := c.prepare(ctx, query)
	if Number(err) == errTooManyPrepared || err == nil && statement == nil {
		return c.conn.QueryContext(ctx, query, args)
	}
	if err != nil {
		return nil, err
	}
	rows, err := statement.QueryContext(ctx, args)
	if Number(err) == errPrepareAgain {
		delete(c.prepared, query) // the server frees it with the connection
		return c.conn.QueryContext(ctx, query, args)
	}
	return rows, err
}

// prepare returns the query's statement; nil where the driver has none that can be asked.
func (c *preparing) prepare(ctx context.Context, query string) (driver.StmtQueryContext, error) {
	if statement, ok := c.prepared[query]; ok {
		return statement, nil
	}
	made, err := c.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	statement, ok := made.(driver.StmtQueryContext)
	if !ok {
		return nil, made.Close()
	}
	c.prepared[query] = statement
	return statement, nil
}
