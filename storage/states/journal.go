package states

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/pause"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/stateengine"
)

const (
	// moveRows is how much of the journal one transaction moves.
	moveRows = 512
	// moveEvery is how often a node that has written moves the journal, if nobody reads.
	moveEvery = time.Second
)

const (
	sqlNewestInJournal = `SELECT coalesce(MAX(id), 0) FROM state_journal`
	sqlLockLog         = `SELECT sequence, newest FROM state_log WHERE id = 1 FOR UPDATE`
	fromJournal        = ` FROM state_journal ORDER BY id LIMIT ?`
	sqlAddUsage        = `INSERT INTO state_usage (org, bytes) VALUES `
	sqlSetLog          = `UPDATE state_log SET sequence = ?, newest = ?, states = states + ?, locks = locks + ? WHERE id = 1`
)

// moreUsage ends an INSERT by sqlAddUsage.
func (d dialect) moreUsage() string {
	return d.Or("org", "bytes = state_usage.bytes + "+d.Given("bytes"))
}

// moved returns when all that the journal had when it was called is in the log and counted. Who
// waits for another caller waits for a move that begins afterwards, which then finds nothing.
func (s *Store) moved(ctx context.Context) error {
	select {
	case <-s.moving:
		defer func() { s.moving <- struct{}{} }()
	case <-ctx.Done():
		return ctx.Err()
	}
	newest, err := s.newestInJournal(ctx)
	if err != nil || newest == 0 {
		return err
	}
	for {
		more, err := s.moveSome(ctx, newest)
		if err != nil || !more {
			return err
		}
	}
}

// newestInJournal is 0 without any.
func (s *Store) newestInJournal(ctx context.Context) (newest int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	err = s.readers.QueryRowContext(ctx, sqlNewestInJournal).Scan(&newest)
	return newest, err
}

// moveSome moves a part of the journal, and says whether there is more up to the newest, in a transaction that only
// others that do the same wait for. Rows of transactions that are under way are not seen, and come later: the
// sequence says in which order events became visible, and those of a state, whose transactions
// follow each other, keep theirs.
func (s *Store) moveSome(ctx context.Context, newest int64) (more bool, err error) {
	err = s.transact(ctx, state.Ref{}, 0, func(t *tx) error {
		m := mover{changes: map[string]int64{}}
		log, err := t.lockLog()
		if err != nil {
			return err
		}
		m.sequence, m.newest = log.sequence, log.newest
		if err := m.read(t); err != nil || len(m.ids) == 0 {
			more = false
			return err
		}
		more = m.last < newest && (len(m.ids) == moveRows || m.size >= sqldb.BatchBytes)
		return m.write(t)
	})
	return more, err
}

// logHead says how far the log has come.
type logHead struct{ sequence, newest int64 }

// lockLog locks the log until the transaction ends.
func (t *tx) lockLog() (h logHead, err error) {
	found, err := t.One([]any{&h.sequence, &h.newest}, sqlLockLog)
	if err == nil && !found {
		err = errNoLog()
	}
	return h, err
}

func errNoLog() error {
	return fault.New(fault.StateCorrupt, "the row of the table state_log is gone; an operator must restore it")
}

// mover is a part of the journal on its way.
type mover struct {
	sequence, newest int64 // of the last event
	ids              []any
	last             int64 // of the IDs
	size             int   // about, in a statement
	events           []any
	rows             int
	linker           linker
	changes          map[string]int64 // bytes by organization
	states, locks    int64
}

// journalRow is a row of the journal.
type journalRow struct {
	id, bytes, states, locks int64
	isEvent                  bool
	event                    audit.Event
}

func scanJournal(scan stateengine.Scan) (r journalRow, err error) {
	r.event, err = stateengine.ScanEvent(func(fields ...any) error {
		return scan(append([]any{&r.id, &r.bytes, &r.states, &r.locks, &r.isEvent}, fields...)...)
	})
	return r, err
}

// read numbers what it finds.
func (m *mover) read(t *tx) error {
	rows, err := t.Query(sqlJournalRows, moveRows)
	if err != nil {
		return err
	}
	return stateengine.Each(rows, scanJournal, func(r journalRow) bool {
		m.ids, m.last = append(m.ids, r.id), r.id
		m.states, m.locks = m.states+r.states, m.locks+r.locks
		if r.bytes != 0 {
			m.changes[r.event.Org.String()] += r.bytes
		}
		if r.isEvent {
			m.sequence++
			m.newest = max(m.newest, r.event.At.UnixMicro())
			r.event.At = stateengine.FromMicros(m.newest)
			values := stateengine.EventValues(r.event)
			m.events = append(append(m.events, m.sequence), values...)
			m.rows++
			r.event.Sequence = uint64(m.sequence)
			m.linker.add(r.event)
			m.size += sqldb.SizeOf(values)
		}
		return m.size < sqldb.BatchBytes
	})
}

// sqlJournalRows reads EventColumns; the sequence comes later.
const sqlJournalRows = `SELECT id, bytes, states, locks, is_event, 0, ` + stateengine.EventNames + fromJournal

func (m *mover) write(t *tx) error {
	if m.rows > 0 {
		if err := t.Later(sqlAddEvents+tuples(m.rows, 16), m.events...); err != nil {
			return err
		}
		if err := m.linker.write(t); err != nil {
			return err
		}
	}
	// In the order of organizations, as others that wait for the same rows do.
	if orgs := slices.Sorted(maps.Keys(m.changes)); len(orgs) > 0 {
		var args []any
		for _, org := range orgs {
			args = append(args, org, m.changes[org])
		}
		if err := t.Later(sqlAddUsage+tuples(len(orgs), 2)+t.sql.moreUsage(), args...); err != nil {
			return err
		}
	}
	if err := t.Later(`DELETE FROM state_journal WHERE id IN `+tuple(len(m.ids)), m.ids...); err != nil {
		return err
	}
	return t.Later(sqlSetLog, m.sequence, m.newest, m.states, m.locks)
}

// keepUp moves the journal now and then, so that nobody finds much of it.
func (s *Store) keepUp(ctx context.Context) {
	for ctx.Err() == nil {
		_ = pause.For(ctx, moveEvery)
		s.watchRewinds(ctx)
		if s.owed.Swap(false) {
			if err := s.moved(ctx); err != nil && ctx.Err() == nil {
				s.owed.Store(true)
				s.log.WarnContext(ctx, "the journal of states could not be moved on; trying again", "error", err)
			}
		}
	}
}
