package states

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	// listTime is for how long a list may run. It looks at so few rows that only a server that
	// hangs takes as long. A page that has come some way by then ends there.
	listTime = time.Second
	// looks is how many rows a list looks at before it says where it goes on, however few of
	// them it has taken.
	looks = 5000
)

const (
	openCandidates = `FROM state_candidates c WHERE c.state = s.id AND c.is_open = 1`
	listedColumns  = `SELECT s.name, (SELECT COUNT(*) ` + openCandidates + `), ` + stateengine.HeadColumns

	// A list looks at the rows of one index, a stretch at a time. The name of the last one of
	// a stretch takes the index alone.
	inRange       = ` WHERE s.org = ? AND s.name >= ? AND s.name < ?`
	byName        = ` ORDER BY s.name LIMIT ?`
	lastOfStretch = ` ORDER BY s.name LIMIT 1 OFFSET ?`
	withNewest    = ` LEFT JOIN state_versions v ON v.state = s.id AND v.number = s.newest`
	wanted        = ` AND (s.newest IS NOT NULL OR EXISTS (SELECT 1 ` + openCandidates + `))`
	isDeleted     = ` AND s.is_deleted = 1`
	isLocked      = ` AND s.is_locked = 1`
	isExpected    = ` AND s.is_expected = 1`

	selectAll = `SELECT s.org, s.name, ` + stateengine.HeadColumns
	allFrom   = withNewest + ` WHERE s.org <> '' AND (s.org > ? OR s.org = ? AND s.name > ?) ORDER BY s.org, s.name LIMIT ?`

	sqlVersions = `SELECT ` + stateengine.VersionColumns + versionOf + ofRef +
		` AND v.number < ? ORDER BY v.number DESC LIMIT ?`
)

// stateList is a stateengine.StateList of the rows of two queries.
type stateList struct {
	db      querier
	org     uuid.UUID
	rows    string
	stretch string // empty where all rows are wanted
	more    []any  // arguments of rows behind those of the range
	read    func(stateengine.Scan) (state.Listed, error)
}

// by reads states by an index.
func (d dialect) by(index string) string { return ` FROM state_heads s` + d.index(index) }

func (s *Store) listOf(ctx context.Context, db querier, org uuid.UUID, q state.StatesQuery) stateList {
	l := stateList{db: db, org: org, read: s.bodies.Seals.Listed(ctx, org)}
	if !q.Locked && !q.Expected {
		l.more = picks(q)
	}
	byNames, byDeletions, picked := s.sql.by("names"), s.sql.by("deletions"), s.sql.picked()
	switch {
	case q.Locked:
		l.rows = listedColumns + s.sql.by("locks") + withNewest + inRange + isLocked + byName
	case q.Expected:
		l.rows = listedColumns + s.sql.by("expectations") + withNewest + inRange + isExpected + byName
	case q.Deleted == state.OnlyDeleted:
		l.rows = listedColumns + byDeletions + withNewest + inRange + isDeleted + wanted + picked + byName
		l.stretch = `SELECT s.name` + byDeletions + inRange + isDeleted + lastOfStretch
	case q.Deleted == state.AnyDeletion:
		l.rows = listedColumns + byNames + withNewest + inRange + wanted + picked + byName
		l.stretch = `SELECT s.name` + byNames + inRange + lastOfStretch
	default:
		l.rows = listedColumns + byNames + withNewest + inRange + wanted + picked + ` AND s.is_deleted = 0` + byName
		l.stretch = `SELECT s.name` + byNames + inRange + lastOfStretch
	}
	return l
}

// Picks implements stateengine.StateList.
func (l stateList) Picks() bool { return l.stretch != "" }

// Last implements stateengine.StateList.
func (l stateList) Last(ctx context.Context, from, below string, entries int) (last state.Name, found bool, err error) {
	return lastOf[state.Name](ctx, l.db, l.stretch, l.org.String(), from, below, entries-1)
}

// Rows implements stateengine.StateList.
func (l stateList) Rows(ctx context.Context, from, below string, limit int, add func(state.Listed) bool) error {
	args := slices.Concat([]any{l.org.String(), from, below}, l.more, []any{limit})
	return each(ctx, l.db, l.read, add, l.rows, args...)
}

// picks are the arguments of picked.
func picks(q state.StatesQuery) []any {
	behind := -1
	if q.Direct {
		behind = len(q.Prefix)
	}
	return []any{q.Contains, behind, behind, q.Held}
}

const selectNames = `SELECT s.name, s.is_deleted = 0` + wanted

// Names implements state.Store.
func (s *Store) Names(ctx context.Context, org uuid.UUID, prefix string, after state.Name,
	limit int) (names []state.Name, next state.Name, err error) {
	from, below := stateengine.NameRange(prefix, after)
	err = s.list(ctx, org, func(ctx context.Context, db querier) error {
		var read stateengine.Names
		err := each(ctx, db, stateengine.ScanNamed, read.Add, selectNames+s.sql.by("names")+inRange+byName,
			org.String(), from, below, limit)
		names, next = read.Page(limit)
		return err
	})
	return names, next, err
}

// lastOf returns the value of a query's only row.
func lastOf[T any](ctx context.Context, db querier, query string, args ...any) (last T, found bool, err error) {
	err = db.QueryRowContext(ctx, query, args...).Scan(&last)
	if errors.Is(err, sql.ErrNoRows) {
		return last, false, nil
	}
	return last, err == nil, err
}

// each hands on the rows of a query until it is told that there is no more to do.
func each[T any](ctx context.Context, db querier,
	read func(stateengine.Scan) (T, error), next func(T) bool, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	return stateengine.Each(rows, read, next)
}

// States implements state.Store.
func (s *Store) States(ctx context.Context, org uuid.UUID, q state.StatesQuery) (page state.Page, err error) {
	err = s.list(ctx, org, func(ctx context.Context, db querier) error {
		page, err = stateengine.States(ctx, s.listOf(ctx, db, org, q), q, s.looks)
		return err
	})
	return page, err
}

// Versions implements state.Store.
func (s *Store) Versions(ctx context.Context, ref state.Ref, before uint64, limit int) ([]state.Version, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	return collect(ctx, s, ref.Org, s.bodies.Seals.Of(ctx, ref).ScanVersion,
		sqlVersions, ref.Org.String(), string(ref.Name),
		stateengine.Key(before), limit)
}

// All implements state.Store.
func (s *Store) All(ctx context.Context, after state.Ref, limit int) ([]state.Located, error) {
	org, name := "", stateengine.AboveNames
	if after != (state.Ref{}) {
		org, name = after.Org.String(), string(after.Name)
	}
	return collect(ctx, s, uuid.Nil, s.bodies.Seals.Located(ctx), selectAll+s.sql.by("names")+allFrom,
		org, org, name, limit)
}

// collect runs a query of an organization's in its turn, and reads its rows.
func collect[T any](ctx context.Context, s *Store, org uuid.UUID,
	read func(stateengine.Scan) (T, error), query string, args ...any) (found []T, err error) {
	err = s.list(ctx, org, func(ctx context.Context, db querier) error {
		found = nil
		return each(ctx, db, read, func(one T) bool {
			found = append(found, one)
			return true
		}, query, args...)
	})
	return found, err
}

// querier is a connection, as database/sql has it.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// current has a list be read over one connection, whose server is asked afterwards whether it takes
// writes: if it does then, it did before, and nobody had what is newer. do's context is timed. Where its
// time is over do may have a page that ends there; its connection is lost then, and another one is asked.
func (s *Store) current(ctx, timed context.Context, do func(context.Context, querier) error) error {
	conn, err := s.readers.Conn(timed)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := do(timed, conn); err != nil {
		return err
	}
	if timed.Err() != nil {
		return s.writable(ctx, s.readers)
	}
	return s.writable(ctx, conn)
}

// writable returns mysqldb.ErrDemoted where the server takes no writes.
func (s *Store) writable(ctx context.Context, db querier) error {
	var demoted bool
	if err := db.QueryRowContext(ctx, s.sql.demoted()).Scan(&demoted); err != nil {
		return err
	}
	if demoted {
		return mysqldb.ErrDemoted
	}
	return nil
}

// list lets a list be read, when it is the organization's turn.
func (s *Store) list(ctx context.Context, org uuid.UUID, do func(context.Context, querier) error) error {
	return s.read(ctx, s.listing, org, askTimeout, func(outer context.Context) error {
		timed, cancel := context.WithTimeout(outer, s.patient)
		defer cancel()
		err := s.current(outer, timed, do)
		switch {
		case ctx.Err() != nil:
			return ctx.Err() // also where a page would end for it
		case err == nil:
			return nil
		case timed.Err() != nil:
			f := fault.Wrap(err, fault.Overloaded, "the list took too long to read; nothing was done")
			f.RetryAfter = listTime
			return f
		}
		return err
	})
}

// candidates reads all that are open, and the newest of those that were decided. Its arguments are three times the
// organization, the name and the candidate behind which they begin, and then how many.
func (d dialect) candidates() string {
	return `SELECT ` + stateengine.CandidateColumns + ` FROM state_candidates v JOIN (
	(SELECT c.seq FROM state_candidates c JOIN state_heads s ON s.id = c.state` + ofRef + ` AND c.is_open = 1 AND ` + d.text() + ` = '')
	UNION ALL
	(SELECT c.seq FROM state_heads s JOIN state_candidates c` + d.index("statuses") + ` ON c.state = s.id` + ofRef + `
		AND c.is_open = 0 AND c.seq < CASE ` + d.text() + ` WHEN '' THEN 9223372036854775807
			ELSE coalesce((SELECT a.seq FROM state_candidates a JOIN state_heads h ON h.id = a.state
				WHERE h.org = ? AND h.name = ? AND a.id = ?), 0) END
		ORDER BY c.seq DESC LIMIT ?)) w ON w.seq = v.seq ORDER BY v.seq DESC`
}

const sqlCandidate = `SELECT 0, v.encoding, v.stored_bytes, 0, b.piece, b.bytes, ` + stateengine.CandidateColumns + `
	FROM state_heads s JOIN state_candidates v ON v.state = s.id LEFT JOIN state_bodies b ON b.state = v.state AND b.number = -v.seq` + ofRef + ` AND v.id = ?`

// Candidates implements state.Store.
func (s *Store) Candidates(ctx context.Context, ref state.Ref, after string, limit int) ([]state.Candidate, error) {
	who := []any{ref.Org.String(), string(ref.Name), after}
	return collect(ctx, s, ref.Org, s.bodies.Seals.Of(ctx, ref).ScanCandidate, s.sql.candidates(),
		append(slices.Concat(who, who, who), limit)...)
}

// Candidate implements state.Store.
func (s *Store) Candidate(ctx context.Context, ref state.Ref, id string) (found state.CandidateBody, err error) {
	var own pieces
	some, in := false, s.bodies.Seals.Of(ctx, ref)
	err = s.read(ctx, s.reading, ref.Org, bodyTimeout, func(ctx context.Context) error {
		own, some = pieces{}, false
		rows, err := s.readers.QueryContext(ctx, s.texts.candidate, ref.Org.String(), string(ref.Name), id)
		if err != nil {
			return err
		}
		var row stateengine.CandidateRow
		if some, err = own.scan(rows, row.Fields()); err != nil || !some {
			return err
		}
		found.Candidate, err = row.Value(in)
		return err
	})
	if err == nil && !some {
		return found, stateengine.ErrNoCandidate(id)
	}
	if err == nil && found.Status == state.Open {
		place := stateengine.Place{Candidate: id}
		found.Body, err = s.bodies.Decode(in, place, found.Version, own.body(), stateengine.Stored{})
	}
	return found, err
}
