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

// Texts is what a pool's texts are in the tables.
type Texts uint8

// What texts are.
const (
	AsTexts Texts = iota + 1
	AsBytes
)

// Plain returns options for a pool whose statements are written as for the other databases: with ? for values, and
// with 0 and 1 for what is false and true. What is between semicolons is several statements, which the server gets
// at once. A text of PostgreSQL's is valid UTF-8 without NUL, and all that is kept as one is, too: what is looked
// for by any other text is looked for by one that nothing has.
func (o Options) Plain(texts Texts, greet Greet) Options {
	o.texts, o.greet = texts, greet
	return o
}

// none is in the place of what no text has: it stands for no character.
const none = "\ufffe"

// plainConnector makes plain connections.
type plainConnector struct {
	driver.Connector
	texts Texts
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
	conn := plain{able, c.texts}
	if c.greet != nil {
		if err := c.greet(ctx, conn); err != nil {
			return nil, errors.Join(err, able.Close())
		}
	}
	return conn, nil
}

// driverConn has its own method Conn be seen where it is embedded.
type driverConn = stdlib.Conn

// plain is a connection that takes statements as Plain says.
type plain struct {
	*driverConn
	texts Texts
}

// CheckNamedValue implements driver.NamedValueChecker.
func (c plain) CheckNamedValue(v *driver.NamedValue) (err error) {
	if _, is := v.Value.(pgx.QueryExecMode); is {
		return nil // for the driver, see Unprepared
	}
	v.Value, err = driver.DefaultParameterConverter.ConvertValue(v.Value)
	switch value := v.Value.(type) {
	case string:
		v.Value = strings.ToValidUTF8(strings.ReplaceAll(value, "\x00", none), none)
		if c.texts == AsBytes {
			v.Value = []byte(value)
		}
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
	return c.driverConn.QueryContext(ctx, Numbered(query), args)
}

// ExecContext implements driver.ExecerContext.
func (c plain) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if strings.Contains(query, ";") { // several statements are taken with their values in them only
		mode := driver.NamedValue{Value: pgx.QueryExecModeSimpleProtocol}
		args = append([]driver.NamedValue{mode}, args...)
	}
	return c.driverConn.ExecContext(ctx, Numbered(query), args)
}

// PrepareContext implements driver.ConnPrepareContext.
func (c plain) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return c.driverConn.PrepareContext(ctx, Numbered(query))
}
