package sqlitedb

import (
	"context"
	"database/sql"
	"errors"
)

// Tx is how a job uses the writing connection. Its statements run to their end: a transaction
// serves several callers, and none of them may break it off.
type Tx struct {
	conn       *sql.Conn
	statements map[string]*sql.Stmt
}

// Conn is the connection, for statements that are too rare to be prepared and those whose text
// varies.
func (t *Tx) Conn() *sql.Conn { return t.conn }

// Stmt returns a statement that is prepared once and kept as long as the connection. The text
// has to be one of a few.
func (t *Tx) Stmt(text string) (*sql.Stmt, error) {
	if s, ok := t.statements[text]; ok {
		return s, nil
	}
	s, err := t.conn.PrepareContext(context.Background(), text)
	if err == nil {
		t.statements[text] = s
	}
	return s, err
}

// Exec runs a statement of Stmt's.
func (t *Tx) Exec(text string, args ...any) (sql.Result, error) {
	s, err := t.Stmt(text)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(context.Background(), args...)
}

// QueryRow runs a query of Stmt's that returns at most one row.
func (t *Tx) QueryRow(text string, args ...any) *sql.Row {
	s, err := t.Stmt(text)
	if err != nil {
		return t.conn.QueryRowContext(context.Background(), text, args...) // which has the error
	}
	return s.QueryRowContext(context.Background(), args...)
}

func (t *Tx) exec(text string) error {
	_, err := t.Exec(text)
	return err
}

// close closes the connection after its statements: sql.Conn leaves them open, and SQLite keeps
// its files open for as long as there is one.
func (t *Tx) close() error {
	var errs []error
	for _, s := range t.statements {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, t.conn.Close())...)
}
