package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
)

// looks is how many rows a list looks at before it says where it goes on, however few of
// them it has taken: some milliseconds.
const looks = 5000

const (
	openCandidates = `FROM candidates c WHERE c.state = s.id AND c.status = 'open'`

	listedColumns = `s.name, (SELECT count(*) ` + openCandidates + `), ` + headColumns

	// One range stands for the prefix and for where the page begins: of two lower bounds the
	// index would serve one, and walk past all that the other leaves out.
	inRange = ` WHERE s.org = ?1 AND s.name >= ?2 AND s.name < ?3 `

	byName = ` ORDER BY s.name LIMIT ?4`

	fromNewest = ` LEFT JOIN versions v ON v.id = s.newest `

	wanted = ` AND (s.newest IS NOT NULL OR EXISTS (SELECT 1 ` + openCandidates + `)) `

	// A list looks at the rows of one index, a stretch at a time. The name of the last one of
	// a stretch takes the index alone.
	lastOfStretch = ` ORDER BY s.name LIMIT 1 OFFSET ?4 - 1`

	sqlStates      = `SELECT ` + listedColumns + fromHeads + inRange + wanted + `AND (?5 OR s.deleted_at IS NULL)` + byName
	sqlStretch     = `SELECT s.name FROM states s ` + inRange + lastOfStretch
	deletedStates  = ` FROM states s INDEXED BY states_deleted `
	isDeleted      = ` AND s.deleted_at IS NOT NULL `
	sqlDeleted     = `SELECT ` + listedColumns + deletedStates + fromNewest + inRange + isDeleted + wanted + byName
	sqlDeletedNext = `SELECT s.name ` + deletedStates + inRange + isDeleted + lastOfStretch
	lockedStates   = ` FROM states s INDEXED BY states_locked `
	isLocked       = ` AND s.lock_id IS NOT NULL `
	sqlLocked      = `SELECT ` + listedColumns + lockedStates + fromNewest + inRange + isLocked + byName
	expectedStates = ` FROM states s INDEXED BY states_expected `
	isExpected     = ` AND s.expected IS NOT NULL `
	sqlExpected    = `SELECT ` + listedColumns + expectedStates + fromNewest + inRange + isExpected + byName
)

// aboveNames lies above every character of a name, and behind every name.
const aboveNames = "\x7f"

// behind is the first text behind a name.
func behind(name state.Name) string { return string(name) + "\x00" }

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
		return stateList{rows: sqlDeleted, stretch: sqlDeletedNext}
	}
	return stateList{rows: sqlStates, stretch: sqlStretch, more: []any{q.Deleted == state.AnyDeletion}}
}

// States implements state.Store. It goes from stretch to stretch of names, each longer than
// the one before: where most are listed, the first will do. Names, not counts, bound them,
// so that nothing is met twice or missed that comes or goes in between.
func (s *Store) States(ctx context.Context, org uuid.UUID, q state.StatesQuery) (page state.Page, err error) {
	from, below := q.Prefix, q.Prefix+aboveNames
	if q.After != "" {
		from = max(from, behind(q.After))
	}
	err = s.list(ctx, org, func(ctx context.Context, r *reader) error {
		page, err = s.states(ctx, r, listOf(q), org, from, below, q.Limit)
		return err
	})
	return page, err
}

func (s *Store) states(ctx context.Context, r *reader, l stateList, org uuid.UUID, from, below string, limit int) (state.Page, error) {
	var p statePage
	for looked, stretch := 0, limit; ; stretch = min(4*stretch, s.looks-looked) {
		end, more, err := r.endOfStretch(ctx, l, org, from, below, stretch)
		if err == nil {
			args := append([]any{org.String(), from, end, limit - len(p.States)}, l.more...)
			err = each(ctx, r, l.rows, args, scanListed, p.add)
		}
		looked += stretch
		switch {
		case err != nil && (ctx.Err() == nil || p.at == ""):
			return state.Page{}, err
		case err != nil, p.full, len(p.States) == limit: // or the time is up
			p.Next = p.at
			return p.Page, nil
		case !more:
			return p.Page, nil
		}
		if p.at = state.Name(end[:len(end)-1]); looked >= s.looks {
			p.Next = p.at
			return p.Page, nil
		}
		from = end
	}
}

// statePage is a page that is read.
type statePage struct {
	state.Page
	bytes int64
	at    state.Name // all up to here was looked at; empty before anything was
	full  bool       // the next state does not fit
}

func (p *statePage) add(one state.Listed) (more bool) {
	if p.bytes += one.Bytes(); len(p.States) > 0 && p.bytes > state.PageBytes {
		p.full = true
		return false
	}
	p.States, p.at = append(p.States, one), one.Name
	return true
}

// endOfStretch returns where so many names from the first on end, exclusively: that is below
// where there are fewer, or where all are wanted.
func (r *reader) endOfStretch(ctx context.Context, l stateList, org uuid.UUID, from, below string, names int) (end string, more bool, err error) {
	if l.stretch == "" {
		return below, false, nil
	}
	var last state.Name
	err = r.conn.QueryRowContext(ctx, l.stretch, org.String(), from, below, names).Scan(&last)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return below, false, nil
	case err != nil:
		return "", false, err
	}
	return behind(last), true, nil
}

func scanListed(scan scan) (listed state.Listed, err error) {
	listed.Head, err = scanHead(scan, &listed.Name, &listed.OpenCandidates)
	return listed, err
}
