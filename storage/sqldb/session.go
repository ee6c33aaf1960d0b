package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/google/uuid"
)

// BatchBytes is how much a session keeps back at most before it is sent.
const BatchBytes = 256 << 10

// Session is a transaction under way on a server, see Transactor. What it writes it may keep back, and send together
// with the COMMIT, or before it reads again: each round trip is time in which others wait for its locks.
type Session struct {
	ctx    context.Context
	conn   *sql.Conn
	speaks Dialect
	token  uuid.UUID // by which is found out what became of it

	kept strings.Builder // statements that were not sent yet
	args []any
	size int

	failed error // of what was kept back, where nobody was told of it
	wrote  bool
	sent   bool // the COMMIT, whatever became of it
}

// Later keeps a statement back.
func (s *Session) Later(statement string, args ...any) error {
	s.wrote = true
	s.keep(statement, args)
	if s.size < BatchBytes {
		return nil
	}
	return s.flush()
}

// Lock runs a query that locks rows, and reports whether there are any. It is for a server that looks only at the
// rows anew that it had to wait for, and not at what is joined with them: who reads behind it sees all as it is by
// then. Where there is no row, nothing is locked, and one that is there by then is somebody else's.
func (s *Session) Lock(query string, args ...any) (found bool, err error) {
	s.keep(query, args)
	result, err := s.send()
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected() // of the last statement
	return n > 0, err
}

func (s *Session) keep(statement string, args []any) {
	s.kept.WriteString(statement)
	s.kept.WriteByte(';')
	s.args = append(s.args, args...)
	s.size += len(statement) + SizeOf(args)
}

// Fits reports whether a statement of so many bytes can be kept back with what is already.
func (s *Session) Fits(bytes int) bool { return s.size+bytes < BatchBytes }

// Wrote reports whether there is anything to commit.
func (s *Session) Wrote() bool { return s.wrote }

// Writes says that there is.
func (s *Session) Writes() { s.wrote = true }

// Token tells the transaction from all others.
func (s *Session) Token() uuid.UUID { return s.token }

// Dialect says which SQL the database speaks.
func (s *Session) Dialect() Dialect { return s.speaks }

// SizeOf is about what values take in a statement: quoting at most doubles them.
func SizeOf(args []any) (n int) {
	for _, arg := range args {
		switch a := arg.(type) {
		case string:
			n += 2 * len(a)
		case []byte:
			n += 2 * len(a)
		default:
			n += 20
		}
	}
	return n
}

// flush sends what was kept back.
func (s *Session) flush() error {
	if s.kept.Len() == 0 {
		return nil
	}
	_, err := s.send()
	return err
}

func (s *Session) send() (sql.Result, error) {
	text, args := s.kept.String(), s.args
	s.kept.Reset()
	s.args, s.size = nil, 0
	return s.conn.ExecContext(s.ctx, text, args...)
}

// Exec runs a statement at once, behind what was kept back.
func (s *Session) Exec(statement string, args ...any) (sql.Result, error) {
	if err := s.flush(); err != nil {
		return nil, err
	}
	s.wrote = true
	return s.conn.ExecContext(s.ctx, statement, args...)
}

// Query asks for rows, behind what was kept back.
func (s *Session) Query(query string, args ...any) (*sql.Rows, error) {
	if err := s.flush(); err != nil {
		return nil, err
	}
	return s.conn.QueryContext(s.ctx, query, args...)
}

// QueryRow asks for one row, behind what was kept back.
func (s *Session) QueryRow(query string, args ...any) *sql.Row {
	if err := s.flush(); err != nil { // the query will fail, too, and may not say why
		s.failed = cmp.Or(s.failed, err)
	}
	return s.conn.QueryRowContext(s.ctx, query, args...)
}

// One scans the only row of a query; found says whether there is one.
func (s *Session) One(dest []any, query string, args ...any) (found bool, err error) {
	if err := s.flush(); err != nil {
		return false, err
	}
	err = s.conn.QueryRowContext(s.ctx, query, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// Added runs an INSERT of one row, and returns the number that it got in a column.
func (s *Session) Added(column, insert string, args ...any) (number int64, err error) {
	if s.speaks == Postgres {
		s.wrote = true
		_, err = s.One([]any{&number}, insert+" RETURNING "+column, args...)
		return number, err
	}
	result, err := s.Exec(insert, args...)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}
