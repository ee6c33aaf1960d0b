package states

import (
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// pieceBytes is how long a piece of a body is at most: what the server takes for a packet may be little.
const pieceBytes = 1 << 20

// tx is a transaction under way.
type tx struct {
	*sqldb.Session
	sql   dialect
	texts *texts
	ref   state.Ref            // the state that it changes
	in    stateengine.Envelope // of an update of it

	made *state.Version // nil for none

	// What it sets in the state's own row.
	row     int64
	columns []string
	values  []any

	// What it tells everybody's rows.
	events        []audit.Event
	changes       map[uuid.UUID]int64 // bytes by organization
	states, locks int64
}

func (s *Store) newTx(session *sqldb.Session, ref state.Ref) *tx {
	return &tx{Session: session, sql: s.sql, texts: &s.texts, ref: ref}
}

// set notes what is to be in the columns of a state's row; several make one statement.
func (t *tx) set(id int64, columns string, values ...any) {
	t.row = id
	t.Writes()
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
	return t.Later(text, args...)
}

// grow notes that an organization has so many bytes more.
func (t *tx) grow(org uuid.UUID, bytes int64) {
	if t.changes == nil {
		t.changes = map[uuid.UUID]int64{}
	}
	t.changes[org] += bytes
	t.Writes()
}

// AddEvent implements stateengine.StateTx.
func (t *tx) AddEvent(e audit.Event) error {
	t.events = append(t.events, e)
	t.Writes()
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
	return t.Later(sqlAddJournal+tuples(rows, journalWidth), args...)
}

// finish keeps back what is left to be committed.
func (t *tx) finish() error {
	if err := t.setRow(); err != nil {
		return err
	}
	return t.journal()
}
