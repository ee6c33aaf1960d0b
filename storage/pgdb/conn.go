package pgdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Greet is handed each new connection of a pool before anything else is asked there. One that it has an error for is
// not used.
type Greet func(context.Context, driver.Conn) error

// Plain returns options for a pool whose statements are written as for the other databases: with ? for values, with
// texts that are bytes in all tables, and with 0 and 1 for what is false and true. What is between semicolons is
// several statements, which the server gets at once.
func (o Options) Plain(greet Greet) Options {
	o.plain, o.greet = true, greet
	return o
}

// plainConnector makes plain connections.
type plainConnector struct {
	driver.Connector
	greet Greet // nil for none
}

func (c plainConnector) Connect(ctx context.Context) (driver.Conn, error) {
	made, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	able, ok := made.(*stdlib.Conn)
	if !ok {
		return nil, errors.Join(errors.New("pgdb: the driver's connection can't do what is asked of it"), made.Close())
	}
	conn := plain{able}
	if c.greet != nil {
		if err := c.greet(ctx, conn); err != nil {
			return nil, errors.Join(err, able.Close())
		}
	}
	return conn, nil
}

// plain is a connection that takes statements as Plain says.
type plain struct{ *stdlib.Conn }

// CheckNamedValue implements driver.NamedValueChecker.
func (plain) CheckNamedValue(v *driver.NamedValue) (err error) {
	v.Value, err = driver.DefaultParameterConverter.ConvertValue(v.Value)
	switch value := v.Value.(type) {
	case string:
		v.Value = []byte(value)
	case bool:
		v.Value = int64(0)
		if value {
			v.Value = int64(1)
		}
	}
	return err
}

// QueryContext implements driver.QueryerContext.
func (c plain) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.Conn.QueryContext(ctx, Numbered(query), args)
}

// ExecContext implements driver.ExecerContext.
func (c plain) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if strings.Contains(query, ";") { // several statements are taken with their values in them only
		mode := driver.NamedValue{Value: pgx.QueryExecModeSimpleProtocol}
		args = append([]driver.NamedValue{mode}, args...)
	}
	return c.Conn.ExecContext(ctx, Numbered(query), args)
}

// PrepareContext implements driver.ConnPrepareContext.
func (c plain) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return c.Conn.PrepareContext(ctx, Numbered(query))
}
