package stateengine

import (
	"context"
	"database/sql"
	"errors"

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

// scanHead reads a row that ends with HeadColumns.
func scanHead(scan Scan, before ...any) (*HeadScan, error) {
	var q HeadScan
	return &q, scan(append(before, q.Fields()...)...)
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
	from, below := NameRange(q.Prefix, q.After)
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

// NameRange is the range of names with a prefix that come behind one, or of all: from the first text
// to before the second.
func NameRange(prefix string, after state.Name) (from, below string) {
	from, below = prefix, prefix+AboveNames
	if after != "" {
		from = max(from, behind(after))
	}
	return from, below
}

// Named is a name, and whether its state exists.
type Named struct {
	Name   state.Name
	Exists bool
}

// ScanNamed reads a Named.
func ScanNamed(scan Scan) (one Named, err error) {
	err = scan(&one.Name, &one.Exists)
	return one, err
}

// Names reads the names of states.
type Names struct {
	names  []state.Name
	looked int
	last   state.Name
}

// Add takes the next one.
func (n *Names) Add(one Named) (more bool) {
	if n.looked, n.last = n.looked+1, one.Name; one.Exists {
		n.names = append(n.names, one.Name)
	}
	return true
}

// Page returns the names of states that exist, and where the list goes on if so many were looked at.
func (n *Names) Page(limit int) (names []state.Name, next state.Name) {
	if n.looked == limit {
		next = n.last
	}
	return n.names, next
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
