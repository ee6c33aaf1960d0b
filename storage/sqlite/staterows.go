package sqlite

import (
	"context"
	"database/sql"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// rowWrite is the text of a statement that writes rows of states, versions or bodies, which
// is what the heads that are kept come from. No connection takes one but through stateRows.
type rowWrite string

// rowStatement is one that is prepared.
type rowStatement struct{ stmt *sql.Stmt }

// prepared says what to prepare.
func (s *rowStatement) prepared(text rowWrite) statement { return statement{&s.stmt, string(text)} }

// stateRows writes the rows of a state, its versions and their bodies. What is kept of the
// state's head is forgotten with each of them, so that nobody who writes has to think of it:
// only an update knows what the head is afterwards, and keeps it anew.
type stateRows struct {
	t   *session
	ref state.Ref
	in  stateengine.Envelope // of an update
}

func (t *session) rowsOf(ref state.Ref) stateRows { return stateRows{t: t, ref: ref} }

// updated are those of an update's state.
func (t *session) updated(u *stateengine.Update) stateRows { return stateRows{t, u.Ref, u.Envelope()} }

// exec runs a prepared statement.
func (r stateRows) exec(s *rowStatement, args ...any) error {
	r.t.heads.forget(r.ref)
	return r.t.exec(s.stmt, args...)
}

// insert runs a prepared INSERT and returns the new row's ID.
func (r stateRows) insert(s *rowStatement, args ...any) (int64, error) {
	r.t.heads.forget(r.ref)
	return r.t.insert(s.stmt, args...)
}

// run is exec for statements that are too rare to be prepared. It returns how many rows have
// changed.
func (r stateRows) run(text rowWrite, args ...any) (rows int64, err error) {
	r.t.heads.forget(r.ref)
	result, err := r.t.conn.ExecContext(context.Background(), string(text), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
