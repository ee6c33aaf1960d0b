package states

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	// batchBytes is how much a transaction keeps back at most before it is sent.
	batchBytes = 256 << 10
	// pieceBytes is how long a piece of a body is at most: what the server takes for a packet
	// may be little.
	pieceBytes = 1 << 20
)

// tx is a transaction under way. What it writes it keeps back, and sends together with the COMMIT,
// or before it reads again: each round trip is time in which others wait for its locks.
type tx struct {
	ctx   context.Context
	conn  *sql.Conn
	sql   dialect
	texts *texts
	ref   state.Ref            // the state that it changes
	in    stateengine.Envelope // of an update of it
	token uuid.UUID            // by which is found out what became of it

	kept strings.Builder // statements that were not sent yet
	args []any
	size int

	made *state.Version // nil for none

	// What it sets in the state's own row.
	row     int64
	columns []string
	values  []any

	// What it tells everybody's rows.
	events        []audit.Event
	changes       map[uuid.UUID]int64 // bytes by organization
	states, locks int64

	wrote bool
	sent  bool // the COMMIT, whatever became of it
}

func (s *Store) newTx(ctx context.Context, conn *sql.Conn, ref state.Ref) (*tx, error) {
	token, err := uuid.NewV7() // so that what is written together lies together
	t := &tx{ctx: ctx, conn: conn, sql: s.sql, texts: &s.texts, ref: ref, token: token}
	t.kept.WriteString(s.sql.begin())
	return t, err
}

// later keeps a statement back.
func (t *tx) later(statement string, args ...any) error {
	t.wrote = true
	t.keep(statement, args...)
	if t.size < batchBytes {
		return nil
	}
	return t.flush()
}

// keep keeps back what may only lock something.
func (t *tx) keep(statement string, args ...any) {
	t.kept.WriteString(statement)
	t.kept.WriteByte(';')
	t.args = append(t.args, args...)
	t.size += len(statement) + sizeOf(args)
}

// sizeOf is about what values take in a statement: quoting at most doubles them.
func sizeOf(args []any) (n int) {
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
func (t *tx) flush() error {
	if t.kept.Len() == 0 {
		return nil
	}
	text, args := t.kept.String(), t.args
	t.kept.Reset()
	t.args, t.size = nil, 0
	_, err := t.conn.ExecContext(t.ctx, text, args...)
	return err
}

// now runs a statement at once, behind what was kept back.
func (t *tx) now(statement string, args ...any) (sql.Result, error) {
	if err := t.flush(); err != nil {
		return nil, err
	}
	t.wrote = true
	return t.conn.ExecContext(t.ctx, statement, args...)
}

// added runs an INSERT of one row, and returns the number that it got in a column.
func (t *tx) added(column, insert string, args ...any) (number int64, err error) {
	if t.sql.isPostgres() {
		t.wrote = true
		_, err = t.one([]any{&number}, insert+" RETURNING "+column, args...)
		return number, err
	}
	result, err := t.now(insert, args...)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

func (t *tx) query(query string, args ...any) (*sql.Rows, error) {
	if err := t.flush(); err != nil {
		return nil, err
	}
	return t.conn.QueryContext(t.ctx, query, args...)
}

// one scans the only row of a query; found says whether there is one.
func (t *tx) one(dest []any, query string, args ...any) (found bool, err error) {
	if err := t.flush(); err != nil {
		return false, err
	}
	err = t.conn.QueryRowContext(t.ctx, query, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// set notes what is to be in the columns of a state's row; several make one statement.
func (t *tx) set(id int64, columns string, values ...any) {
	t.row, t.wrote = id, true
	for i, column := range strings.Split(columns, ",") {
		column = strings.TrimSpace(column)
		if at := slices.Index(t.columns, column); at >= 0 {
			t.values[at] = values[i]
			continue
		}
		t.columns, t.values = append(t.columns, column), append(t.values, values[i])
	}
}

// setRow keeps back the statement that set has made.
func (t *tx) setRow() error {
	if len(t.columns) == 0 {
		return nil
	}
	args := append(t.values, t.row)
	text := "UPDATE state_heads SET " + strings.Join(t.columns, " = ?, ") + " = ? WHERE id = ?"
	t.row, t.columns, t.values = 0, nil, nil
	return t.later(text, args...)
}

// grow notes that an organization has so many bytes more.
func (t *tx) grow(org uuid.UUID, bytes int64) {
	if t.changes == nil {
		t.changes = map[uuid.UUID]int64{}
	}
	t.changes[org] += bytes
	t.wrote = true
}

// AddEvent implements stateengine.StateTx.
func (t *tx) AddEvent(e audit.Event) error {
	t.events = append(t.events, e)
	t.wrote = true
	return nil
}

// journalWidth is how many values a row of the journal has.
const journalWidth = 4 + 15

// journal keeps back the rows that tell of the transaction: one for each event, of which the first
// of an organization has its bytes, and the first of all has the rest.
func (t *tx) journal() error {
	var args []any
	rows := 0
	add := func(isEvent bool, e audit.Event) {
		args = append(args, t.changes[e.Org], t.states, t.locks, isEvent)
		args = append(args, stateengine.EventValues(e)...)
		delete(t.changes, e.Org)
		t.states, t.locks = 0, 0
		rows++
	}
	for _, e := range t.events {
		add(true, e)
	}
	for org, bytes := range t.changes {
		if bytes != 0 || t.states != 0 || t.locks != 0 {
			add(false, audit.Event{Org: org})
		}
	}
	if t.states != 0 || t.locks != 0 {
		add(false, audit.Event{Org: t.ref.Org})
	}
	if rows == 0 {
		return nil
	}
	return t.later(sqlAddJournal+tuples(rows, journalWidth), args...)
}

// commit sends what is left with the token and the COMMIT.
func (t *tx) commit() error {
	if err := t.setRow(); err != nil {
		return err
	}
	if err := t.journal(); err != nil {
		return err
	}
	t.sent = true
	if err := t.later(sqlAddOutcome, t.token[:]); err != nil {
		return err
	}
	if err := t.later("COMMIT"); err != nil {
		return err
	}
	return t.flush()
}
