package index

import (
	"context"
	"database/sql"

	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// tx runs statements in the writer's transaction; each text is prepared once.
//
// The context is never a caller's: a transaction serves several, and none of them may
// break it off.
type tx struct{ w *writer }

func (t *tx) stmt(text string) (*sql.Stmt, error) {
	if s, ok := t.w.stmts[text]; ok {
		return s, nil
	}
	s, err := t.w.conn.PrepareContext(context.Background(), text)
	if err == nil {
		t.w.stmts[text] = s
	}
	return s, err
}

func (t *tx) exec(text string, args ...any) error {
	_, err := t.run(text, args...)
	return err
}

func (t *tx) run(text string, args ...any) (sql.Result, error) {
	s, err := t.stmt(text)
	if err != nil {
		return nil, err
	}
	return s.Exec(args...)
}

func (t *tx) row(text string, args []any, dest ...any) error {
	s, err := t.stmt(text)
	if err != nil {
		return err
	}
	return s.QueryRow(args...).Scan(dest...)
}

// rollback ends a transaction that failed; SQLite may have done so itself.
func (t *tx) rollback() error {
	_, err := t.w.conn.ExecContext(context.Background(), "ROLLBACK")
	if sqlitedb.Code(err)&0xff == 1 { // SQLITE_ERROR: no transaction is active
		return nil
	}
	return err
}
