package stateengine

import (
	"context"
	"database/sql"
	"errors"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
)

// AboveNames lies above every character of a name, and behind every name.
const AboveNames = "\x7f"

// behind is the first text behind a name.
func behind(name state.Name) string { return string(name) + "\x00" }

// Scan reads one row into pointers.
type Scan func(fields ...any) error

// Each hands on the rows of a query until it is told that there is no more to do, and closes it.
func Each[T any](rows *sql.Rows, read func(Scan) (T, error), next func(T) (more bool)) error {
	for rows.Next() {
		one, err := read(rows.Scan)
		if err != nil {
			return errors.Join(err, rows.Close())
		}
		if !next(one) {
			return rows.Close()
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// ScanHead reads a row that ends with HeadColumns.
func ScanHead(scan Scan, before ...any) (state.Head, error) {
	var q HeadScan
	if err := scan(append(before, q.Fields()...)...); err != nil {
		return state.Head{}, err
	}
	row, err := q.Value()
	return row.Head, err
}

// ScanListed reads a name, how many candidates are open, and HeadColumns.
func ScanListed(scan Scan) (listed state.Listed, err error) {
	listed.Head, err = ScanHead(scan, &listed.Name, &listed.OpenCandidates)
	return listed, err
}

// ScanLocated reads an organization, a name, and HeadColumns.
func ScanLocated(scan Scan) (located state.Located, err error) {
	var org string
	located.Head, err = ScanHead(scan, &org, &located.Ref.Name)
	if err == nil {
		located.Ref.Org, err = uuid.Parse(org)
	}
	return located, err
}

// ScanVersion reads VersionColumns.
func ScanVersion(scan Scan) (state.Version, error) {
	var row VersionRow
	if err := scan(row.Fields()...); err != nil {
		return state.Version{}, err
	}
	return row.Value()
}

// StateList is a list of an organization's states in an index of its own, of which some are wanted.
type StateList interface {
	// Picks reports whether some of the index's states may not be wanted.
	Picks() bool
	// Last returns the name of the last one of so many entries, from from on to before below;
	// found is false when there are fewer. It takes the index alone.
	Last(ctx context.Context, from, below string, entries int) (last state.Name, found bool, err error)
	// Rows hands on those from from to before below that are wanted, at most limit.
	Rows(ctx context.Context, from, below string, limit int, add func(state.Listed) (more bool)) error
}

// States goes from stretch to stretch of names, each longer than the one before: where most are
// listed, the first will do. Names, not counts, bound them, so that nothing is met twice or missed
// that comes or goes in between. After looks entries, or when ctx ends, the page ends with where
// the list goes on.
func States(ctx context.Context, l StateList, q state.StatesQuery, looks int) (state.Page, error) {
	from, below := q.Prefix, q.Prefix+AboveNames
	if q.After != "" {
		from = max(from, behind(q.After))
	}
	var p statePage
	for looked, stretch := 0, q.Limit; ; stretch = min(4*stretch, looks-looked) {
		end, more, err := endOfStretch(ctx, l, from, below, stretch)
		if err == nil {
			err = l.Rows(ctx, from, end, q.Limit-len(p.States), p.add)
		}
		looked += stretch
		switch {
		case err != nil && (ctx.Err() == nil || p.at == ""):
			return state.Page{}, err
		case err != nil, p.full, len(p.States) == q.Limit: // or the time is up
			p.Next = p.at
			return p.Page, nil
		case !more:
			return p.Page, nil
		}
		if p.at = state.Name(end[:len(end)-1]); looked >= looks {
			p.Next = p.at
			return p.Page, nil
		}
		from = end
	}
}

// endOfStretch returns where so many names from the first on end, exclusively: that is below
// where there are fewer, or where all are wanted.
func endOfStretch(ctx context.Context, l StateList, from, below string, names int) (end string, more bool, err error) {
	if !l.Picks() {
		return below, false, nil
	}
	last, found, err := l.Last(ctx, from, below, names)
	if err != nil || !found {
		return below, false, err
	}
	return behind(last), true, nil
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
