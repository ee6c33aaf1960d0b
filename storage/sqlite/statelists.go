package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// looks is how many rows a list looks at before it says where it goes on, however few of
// them it has taken: some milliseconds.
const looks = 5000

const (
	openCandidates = `FROM candidates c WHERE c.state = s.id AND c.status = 'open'`

	listedColumns = `s.name, (SELECT count(*) ` + openCandidates + `), ` + stateengine.HeadColumns

	// One range stands for the prefix and for where the page begins: of two lower bounds the
	// index would serve one, and walk past all that the other leaves out.
	inRange = ` WHERE s.org = ?1 AND s.name >= ?2 AND s.name < ?3 `

	byName = ` ORDER BY s.name LIMIT ?4`

	fromNewest = ` LEFT JOIN versions v ON v.id = s.newest `

	wanted = ` AND (s.newest IS NOT NULL OR EXISTS (SELECT 1 ` + openCandidates + `)) `

	// picked is state.StatesQuery.Picks.
	picked = ` AND (?5 = '' OR instr(lower(s.name), ?5) > 0) AND (?6 < 0 OR instr(substr(s.name, ?6 + 1), '/') = 0)
 AND (NOT ?7 OR EXISTS (SELECT 1 ` + openCandidates + `)) `

	// A list looks at the rows of one index, a stretch at a time. The name of the last one of
	// a stretch takes the index alone.
	lastOfStretch = ` ORDER BY s.name LIMIT 1 OFFSET ?4 - 1`

	sqlStates = `SELECT ` + listedColumns + fromHeads + inRange + wanted + picked +
		`AND (?8 OR s.deleted_at IS NULL)` + byName
	sqlStretch    = `SELECT s.name FROM states s ` + inRange + lastOfStretch
	deletedStates = ` FROM states s INDEXED BY states_deleted `
	isDeleted     = ` AND s.deleted_at IS NOT NULL `
	sqlDeleted    = `SELECT ` + listedColumns + deletedStates + fromNewest + inRange + isDeleted + wanted + picked +
		byName
	sqlDeletedNext = `SELECT s.name ` + deletedStates + inRange + isDeleted + lastOfStretch
	lockedStates   = ` FROM states s INDEXED BY states_locked `
	isLocked       = ` AND s.lock_id IS NOT NULL `
	sqlLocked      = `SELECT ` + listedColumns + lockedStates + fromNewest + inRange + isLocked + byName
	expectedStates = ` FROM states s INDEXED BY states_expected `
	isExpected     = ` AND s.expected IS NOT NULL `
	sqlExpected    = `SELECT ` + listedColumns + expectedStates + fromNewest + inRange + isExpected + byName

	sqlNames = `SELECT s.name, s.deleted_at IS NULL AND (s.newest IS NOT NULL OR EXISTS (SELECT 1 ` + openCandidates +
		`)) FROM states s` + inRange + byName
)

// stateList are the two queries of a list of states.
type stateList struct {
	rows    string
	stretch string // empty where all rows are wanted
	more    []any  // arguments of rows
}

func listOf(q state.StatesQuery) stateList {
	switch {
	case q.Locked:
		return stateList{rows: sqlLocked} // all of them are wanted
	case q.Expected:
		return stateList{rows: sqlExpected}
	case q.Deleted == state.OnlyDeleted:
		return stateList{rows: sqlDeleted, stretch: sqlDeletedNext, more: picks(q)}
	}
	return stateList{rows: sqlStates, stretch: sqlStretch, more: append(picks(q), q.Deleted == state.AnyDeletion)}
}

// picks are the arguments of picked.
func picks(q state.StatesQuery) []any {
	behind := -1
	if q.Direct {
		behind = len(q.Prefix)
	}
	return []any{q.Contains, behind, q.Held}
}

// Names implements state.Store.
func (s *Store) Names(ctx context.Context, org uuid.UUID, prefix string, after state.Name,
	limit int) (names []state.Name, next state.Name, err error) {
	from, below := stateengine.NameRange(prefix, after)
	err = s.list(ctx, org, func(ctx context.Context, r *reader) error {
		var read stateengine.Names
		err := each(ctx, r, sqlNames, []any{org.String(), from, below, limit}, stateengine.ScanNamed, read.Add)
		names, next = read.Page(limit)
		return err
	})
	return names, next, err
}

// States implements state.Store.
func (s *Store) States(ctx context.Context, org uuid.UUID, q state.StatesQuery) (page state.Page, err error) {
	err = s.list(ctx, org, func(ctx context.Context, r *reader) error {
		page, err = stateengine.States(ctx, statesOf{r, org, listOf(q), s.bodies.Seals.Listed(ctx, org)}, q, s.looks)
		return err
	})
	return page, err
}

// statesOf is a stateengine.StateList.
type statesOf struct {
	r   *reader
	org uuid.UUID
	of  stateList

	read func(stateengine.Scan) (state.Listed, error)
}

// Picks implements stateengine.StateList.
func (l statesOf) Picks() bool { return l.of.stretch != "" }

// Last implements stateengine.StateList.
func (l statesOf) Last(ctx context.Context, from, below string, entries int) (last state.Name, found bool, err error) {
	err = l.r.conn.QueryRowContext(ctx, l.of.stretch, l.org.String(), from, below, entries).Scan(&last)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return last, err == nil, err
}

// Rows implements stateengine.StateList.
func (l statesOf) Rows(ctx context.Context, from, below string, limit int, add func(state.Listed) bool) error {
	args := append([]any{l.org.String(), from, below, limit}, l.of.more...)
	return each(ctx, l.r, l.of.rows, args, l.read, add)
}
