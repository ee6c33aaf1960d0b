package stateengine

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// Key is a number as a database compares it: what no row can have stays above them all.
func Key(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// EventNames are the columns that EventValues are for.
const EventNames = `at, org, action, state, version, lock_id, refused, reason, note, key_id, key_name, subject, role,
	address, request`

// EventValues returns what an event's columns hold.
func EventValues(e audit.Event) []any {
	a := e.Actor
	values := make([]any, 0, 18) // with room for what comes behind
	return append(values, e.At.UnixMicro(), e.Org.String(), string(e.Action), e.State, int64(e.Version), e.LockID,
		string(e.Refused),
		e.Reason, e.Note, a.KeyID, a.KeyName, a.Subject, string(a.Role), a.Address, a.Request)
}

// LinkColumns are read by ScanLink.
const LinkColumns = EventColumns + `, place, hash`

// ScanLink reads a row of LinkColumns. What can't be of a chain is none of it, which who verifies the
// chain finds out.
func ScanLink(scan Scan) (l audit.Link, err error) {
	var place sql.NullInt64
	var hash []byte
	l.Event, err = ScanEvent(func(fields ...any) error { return scan(append(fields, &place, &hash)...) })
	l.Place = uint64(max(place.Int64, 0))
	copy(l.Hash[:], hash)
	return l, err
}

// ChainNames are the columns of an organization's chain.
const ChainNames = `org, seed, first, sequence, place, hash`

// ChainValues returns what they hold.
func ChainValues(org uuid.UUID, c audit.Chain) []any {
	return []any{org.String(), c.Seed[:], int64(c.First), int64(c.Head.Sequence), int64(c.Place), c.Head.Hash[:]}
}

// ScanChain reads a row of ChainNames, as ScanLink does.
func ScanChain(scan Scan) (org uuid.UUID, c audit.Chain, err error) {
	var name string
	var first, sequence, place int64
	var seed, hash []byte
	if err = scan(&name, &seed, &first, &sequence, &place, &hash); err != nil {
		return uuid.Nil, audit.Chain{}, err
	}
	c.First, c.Place, c.Head.Sequence = uint64(first), uint64(max(place, 0)), uint64(sequence)
	copy(c.Seed[:], seed)
	copy(c.Head.Hash[:], hash)
	org, err = uuid.Parse(name)
	return org, c, err
}

// CheckpointNames are the columns of the last event that was removed of an organization.
const CheckpointNames = `org, sequence, place, hash, at`

// CheckpointValues returns what they hold.
func CheckpointValues(org uuid.UUID, c audit.Checkpoint) []any {
	return []any{org.String(), int64(c.Sequence), int64(c.Place), c.Hash[:], c.At.UnixMicro()}
}

// ScanCheckpoint reads the columns behind the organization's; without a row it returns the zero Checkpoint.
func ScanCheckpoint(scan Scan) (c audit.Checkpoint, err error) {
	var sequence, place, at int64
	var hash []byte
	if err = scan(&sequence, &place, &hash, &at); errors.Is(err, sql.ErrNoRows) {
		return audit.Checkpoint{}, nil
	} else if err != nil {
		return audit.Checkpoint{}, err
	}
	c.Sequence, c.Place, c.At = uint64(max(sequence, 0)), uint64(max(place, 0)), FromMicros(at)
	copy(c.Hash[:], hash)
	return c, nil
}

// Steady reads a part of a chain again where old events were removed meanwhile.
func Steady(checkpoint func() (audit.Checkpoint, error), read func() error) (c audit.Checkpoint, err error) {
	if c, err = checkpoint(); err != nil {
		return c, err
	}
	for {
		if err := read(); err != nil {
			return c, err
		}
		now, err := checkpoint()
		if err != nil || now == c {
			return c, err
		}
		c = now
	}
}

// ScanEvent reads a row of EventColumns.
func ScanEvent(scan Scan) (audit.Event, error) {
	var e audit.Event
	var sequence, at, version int64
	var org string
	a := &e.Actor
	err := scan(&sequence, &at, &org, &e.Action, &e.State, &version, &e.LockID, &e.Refused, &e.Reason, &e.Note,
		&a.KeyID, &a.KeyName, &a.Subject, &a.Role, &a.Address, &a.Request)
	if err != nil {
		return audit.Event{}, err
	}
	e.Sequence, e.At, e.Version = uint64(sequence), FromMicros(at), uint64(version)
	e.Org, err = uuid.Parse(org)
	return e, err
}

// Log is the audit log of a database: sequences without gaps, along which times only grow.
type Log interface {
	// Last returns the last sequence, 0 without any.
	Last(ctx context.Context) (int64, error)
	// At returns the time of the first event from a sequence on.
	At(ctx context.Context, sequence int64) (micros int64, err error)
}

// Span returns the range of sequences, from inclusive and to exclusive, that Since, Until
// and Before leave.
func Span(ctx context.Context, l Log, q audit.Query) (from, to int64, err error) {
	if to = math.MaxInt64; q.Before > 0 {
		to = Key(q.Before)
	}
	if !q.Since.IsZero() {
		if from, err = sequenceAt(ctx, l, q.Since); err != nil {
			return 0, 0, err
		}
	}
	if !q.Until.IsZero() {
		until, err := sequenceAt(ctx, l, q.Until)
		if err != nil {
			return 0, 0, err
		}
		to = min(to, until)
	}
	return from, to, nil
}

// sequenceAt finds the first event that is not before t, by halving the log. Without one
// it is the sequence that the next event gets, or one above.
func sequenceAt(ctx context.Context, l Log, t time.Time) (int64, error) {
	last, err := l.Last(ctx)
	if err != nil {
		return 0, err
	}
	low, high, micros := int64(1), last+1, ceilMicros(t)
	for low < high {
		middle := low + (high-low)/2
		at, err := l.At(ctx, middle)
		if err != nil {
			return 0, err
		}
		if at < micros {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, nil
}

// ceilMicros is the first time as a database keeps them that is not before t.
func ceilMicros(t time.Time) int64 { return t.Add(time.Microsecond - 1).UnixMicro() }

// EventList is a list of events in an index of its own, of which some pass the filters.
type EventList interface {
	// Filtered reports whether there are filters beside the index.
	Filtered() bool
	// Last returns the sequence of the last one of so many entries of the list, from the newest
	// below to on down to from; found is false when there are fewer. It takes the index alone.
	Last(ctx context.Context, from, to int64, entries int) (low int64, found bool, err error)
	// Rows hands on those from low to below high that pass, the newest first, at most limit.
	Rows(ctx context.Context, low, high int64, limit int, add func(audit.Event) (more bool)) error
}

// Events goes down the log from stretch to stretch of the list's entries, each longer than
// the one before: where most pass the filters, the first will do. After looks entries, or when
// ctx ends, the page ends with where the list goes on.
func Events(ctx context.Context, l EventList, from, to int64, limit, looks int) (page audit.Page, err error) {
	at := uint64(0) // all from here on was looked at; 0 before anything was
	add := func(e audit.Event) bool {
		page.Events, at = append(page.Events, e), e.Sequence
		return true
	}
	for looked, stretch := 0, limit; ; stretch = min(4*stretch, looks-looked) {
		low, more := from, false
		if l.Filtered() {
			low, more, err = l.Last(ctx, from, to, stretch)
		}
		if err == nil && !more {
			low = from
		}
		if err == nil {
			err = l.Rows(ctx, low, to, limit-len(page.Events), add)
		}
		looked += stretch
		switch {
		case err != nil && (ctx.Err() == nil || at == 0):
			return audit.Page{}, err
		case err != nil, len(page.Events) == limit: // or the time is up
			page.Next = at
			return page, nil
		case !more:
			return page, nil
		}
		if at, to = uint64(low), low; looked >= looks {
			page.Next = at
			return page, nil
		}
	}
}

// Oldest reads the oldest events of a chain that are left, and returns those of them that go because they are from
// before a time, with the checkpoint that they leave, as audit.Chain.Prune has it.
func Oldest(rows *sql.Rows, chain audit.Chain, before time.Time) (gone []audit.Link, to audit.Checkpoint, err error) {
	var links []audit.Link
	if err := Each(rows, ScanLink, func(l audit.Link) bool {
		links = append(links, l)
		return true
	}); err != nil {
		return nil, to, err
	}
	to, n, err := chain.Prune(links, before)
	return links[:n], to, err
}

// LastBlank reads sequences, and whether nothing is left of each, in their order. It returns the last one that goes: of
// those at the log's beginning of which nothing is left, and not behind a checkpoint; with no sequence where none goes.
func LastBlank(rows *sql.Rows, upTo audit.Checkpoint) (last audit.Checkpoint, err error) {
	type one struct {
		sequence int64
		blank    bool
	}
	err = Each(rows, func(scan Scan) (o one, err error) {
		err = scan(&o.sequence, &o.blank)
		return o, err
	}, func(o one) bool {
		goes := o.blank && uint64(o.sequence) <= upTo.Sequence
		if goes {
			last = audit.Checkpoint{Mark: audit.Mark{Sequence: uint64(o.sequence)}, At: upTo.At}
		}
		return goes
	})
	return last, err
}
