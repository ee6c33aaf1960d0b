package moving

import (
	"context"
	"database/sql"
)

// Querier asks a database. The rows of a query are closed before the next one.
type Querier interface {
	Query(query string, args ...any) (*sql.Rows, error)
}

// Tx is a transaction that may write.
type Tx interface {
	Querier
	Exec(query string, args ...any) (sql.Result, error)
}

// Database is one side of a move.
type Database interface {
	// Look runs fn, whose statements each see a moment of their own.
	Look(ctx context.Context, fn func(Querier) error) error
	// Change runs fn in a transaction, and returns nil when that is durable. fn may run several
	// times, from the beginning.
	Change(ctx context.Context, bytes int, fn func(Tx) error) error
	// RowValues says that (a, b) > (?, ?) is looked up by an index of a and b; else it is written
	// out by ANDs and ORs, which are.
	RowValues() bool
}

// Shape is how a database keeps a Table.
type Shape struct {
	Table
	// Into is the database's table that rows are inserted into and deleted from.
	Into string
	// From is what rows are read from; empty for Into.
	From string
	// Where limits what rows are; empty for all.
	Where string
	// Expr says by which expressions columns are read, Real how columns of Into are called: those
	// that both don't name are called as they are. An expression of a key's column is one that an index
	// has.
	Expr, Real map[string]string
	// Marks are expressions that are read in the place of a body, and differ when bodies do.
	Marks []Column
	// More are columns of Into that no record has, with what they are to hold.
	More []Derived
	// BodyOf reads a body that no expression of From is; nil where one is.
	BodyOf func(Querier, Row) ([]byte, error)
	// Insert puts a row's record, Delete takes one away by its key, where Into is not all of it; nil
	// for what follows from the rest.
	Insert func(Tx, Row) error
	Delete func(Tx, Row) error
}

// Derived is a column whose value follows from a record's.
type Derived struct {
	Name  string
	Value func(Row) any
}

// Side is a database with what it keeps, those things first that others belong to.
type Side struct {
	Database
	Shapes []Shape
}

// expr is how a column is read.
func (s Shape) expr(name string) string {
	if e, ok := s.Expr[name]; ok {
		return e
	}
	return s.real(name)
}

// real is a column's name in Into.
func (s Shape) real(name string) string {
	if r, ok := s.Real[name]; ok {
		name = r
	}
	return "`" + name + "`"
}

func (s Shape) from() string {
	if s.From == "" {
		return s.Into
	}
	return s.From
}
