package sqldb

import (
	"context"
	"database/sql"
	"errors"
)

// sqlTx is a transaction of database/sql's.
type sqlTx struct {
	ctx    context.Context
	tx     *sql.Tx
	speaks Dialect
}

func (t sqlTx) Dialect() Dialect { return t.speaks }

func (t sqlTx) Exec(query string, args ...any) (sql.Result, error) {
	return t.tx.ExecContext(t.ctx, query, args...)
}

func (t sqlTx) Query(query string, args ...any) (*sql.Rows, error) {
	return t.tx.QueryContext(t.ctx, query, args...)
}

func (t sqlTx) QueryRow(query string, args ...any) *sql.Row {
	return t.tx.QueryRowContext(t.ctx, query, args...)
}

// alone runs statements on one connection.
type alone struct {
	ctx    context.Context
	conn   *sql.Conn
	speaks Dialect
}

func (a alone) Dialect() Dialect { return a.speaks }

func (a alone) Query(query string, args ...any) (*sql.Rows, error) {
	return a.conn.QueryContext(a.ctx, query, args...)
}

func (a alone) Exec(query string, args ...any) (sql.Result, error) {
	return a.conn.ExecContext(a.ctx, query, args...)
}

// OnConn runs statements on a connection, in the transaction that the caller has begun there, if any.
func OnConn(ctx context.Context, conn *sql.Conn, d Dialect) Tx { return alone{ctx, conn, d} }

func (a alone) QueryRow(query string, args ...any) *sql.Row {
	return a.conn.QueryRowContext(a.ctx, query, args...)
}

// askOn runs fn on one connection of a pool.
func askOn(ctx context.Context, db *sql.DB, d Dialect, fn func(Querier) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	err = fn(alone{ctx, conn, d})
	if closed := conn.Close(); err == nil {
		err = closed
	}
	return err
}

// transact runs fn in a transaction, and commits it unless fn fails.
func transact(ctx context.Context, db *sql.DB, d Dialect, o *sql.TxOptions, fn func(sqlTx) error) error {
	tx, err := db.BeginTx(ctx, o)
	if err != nil {
		return err
	}
	if err := fn(sqlTx{ctx, tx, d}); err != nil {
		_ = tx.Rollback() // fn's error is the one to report
		return err
	}
	return tx.Commit()
}

// errRead ends a transaction that only reads.
var errRead = errors.New("sqldb: the read has ended")

func readOn(ctx context.Context, db *sql.DB, d Dialect, o *sql.TxOptions, fn func(Querier) error) error {
	var answer error
	err := transact(ctx, db, d, o, func(t sqlTx) error {
		answer = fn(t)
		return errRead
	})
	if errors.Is(err, errRead) {
		return answer
	}
	return err
}
