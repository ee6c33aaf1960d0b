package states

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/mysqldb"
)

// A failover may lead to a server that has not got the last transactions, although nodes have acknowledged
// them. Which these are the tokens say that each transaction leaves in state_outcomes: a node looks for
// those of its last acknowledged changes on each new connection, before anything else is asked there, and
// each second, for a database that is behind a proxy or was brought back from a backup. A state of which a
// change is gone is refused from then on, by all nodes, until an operator has removed its row of
// state_rewinds.

const (
	// checkedAtOnce is how many of the newest changes a check looks for. Replicas lose the last ones: of
	// those that were committed together, in no order that this node knows, at least one is among them.
	checkedAtOnce = 128
	// lookedFor is for how many at once a node looks that has found that some are gone.
	lookedFor = 256

	sqlOutcomesThere = `SELECT token FROM state_outcomes WHERE undone = 0 AND token IN `
	sqlThere         = `SELECT coalesce(v.number, 0)` + fromHeads + ofRef
	sqlAddRewind     = `INSERT INTO state_rewinds (org, name, number, acknowledged, there) VALUES (?, ?, ?, ?, ?)`
	sqlRewinds       = `SELECT org, name, number FROM state_rewinds`
)

// rewinds are the states that are refused.
type rewinds struct {
	noticing sync.Mutex // held by who looks which changes are gone
	telling  sync.Mutex // held by who tells the database

	mu      sync.RWMutex
	refused map[state.Ref]ack // the newest version of each that is gone
	owed    map[state.Ref]ack // of these, what the database does not say yet
}

// refuse has the state of a change be refused.
func (r *rewinds) refuse(gone ack) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if before, ok := r.owed[gone.ref()]; !ok || before.Number <= gone.Number {
		r.owed[gone.ref()], r.refused[gone.ref()] = gone, gone
	}
}

// forget drops what is said of an organization's states, which are destroyed.
func (r *rewinds) forget(org uuid.UUID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, some := range []map[state.Ref]ack{r.owed, r.refused} {
		maps.DeleteFunc(some, func(ref state.Ref, _ ack) bool { return ref.Org == org })
	}
}

// of returns the fault of a state that is refused.
func (r *rewinds) of(ref state.Ref) error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	gone, ok := r.refused[ref]
	if !ok {
		return nil
	}
	what := "a change of this state"
	if gone.Number > 0 {
		what = fmt.Sprintf("version %d of this state", gone.Number)
	}
	f := fault.New(fault.StateRewound, "the database does not have %s any more, which was acknowledged; an operator must "+
		"say what counts", what)
	f.RetryAfter = retryRewound
	return f
}

// retryRewound is what clients are told who ask for a state that is refused.
const retryRewound = 5 * time.Second

func (r *rewinds) count() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.refused)
}

// remember notes that a change is about to be acknowledged.
func (s *Store) remember(ctx context.Context, t *tx, token uuid.UUID) {
	if t.ref.Name == "" {
		return // it tells of no state
	}
	one := ack{Token: token, Org: t.ref.Org, Name: t.ref.Name, At: s.now()}
	if t.made != nil {
		one.Number = t.made.Number
	}
	if err := s.acks.add(one); err != nil {
		s.log.WarnContext(ctx, "what this node acknowledges can't be noted beside the database", "error", err)
	}
}

// greet is called with each new connection.
func (s *Store) greet(ctx context.Context, conn driver.Conn) error { return s.check(ctx, conn) }

func (s *Store) check(ctx context.Context, conn any) error {
	q, ok := conn.(driver.QueryerContext)
	if !ok {
		return fmt.Errorf("states: a connection of %T takes no queries", conn)
	}
	newest := s.acks.newest(checkedAtOnce, s.now())
	there, err := s.outcomes(ctx, q, newest)
	if err != nil || len(there) == len(newest) {
		return err
	}
	// A server that takes no writes yet may be about to get what is missing.
	if demoted, err := isTrue(ctx, q, s.sql.demoted()); err != nil || demoted {
		return cmp.Or(err, mysqldb.ErrDemoted)
	}
	return s.notice(ctx, q)
}

// isTrue returns the only value of a query that asks whether something is so.
func isTrue(ctx context.Context, q driver.QueryerContext, query string) (is bool, err error) {
	rows, err := q.QueryContext(ctx, query, nil)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	row := make([]driver.Value, 1)
	if err := rows.Next(row); err != nil {
		return false, err
	}
	switch value := row[0].(type) {
	case int64:
		return value != 0, nil
	case []byte:
		return string(value) != "0", nil
	case bool:
		return value, nil
	}
	return false, fmt.Errorf("states: a %T is neither true nor false", row[0])
}

// notice finds out which changes are gone.
func (s *Store) notice(ctx context.Context, q driver.QueryerContext) error {
	s.rewinds.noticing.Lock()
	defer s.rewinds.noticing.Unlock()
	all := s.acks.newest(mostAcks, s.now())
	gone := map[uuid.UUID]bool{}
	for some := range slices.Chunk(all, lookedFor) {
		there, err := s.outcomes(ctx, q, some)
		if err != nil {
			return err
		}
		for _, one := range some {
			if !there[one.Token] {
				gone[one.Token] = true
				s.rewinds.refuse(one)
				s.log.ErrorContext(ctx, "the database has lost a change that was acknowledged; its state is refused until an "+
					"operator says what counts", "org", one.Org, "state", one.Name, "version", one.Number, "acknowledged", one.At)
			}
		}
	}
	// They are forgotten when the database says that they are gone: until then nothing else does.
	s.acks.miss(gone)
	return nil
}

// outcomes says which changes the database has.
func (s *Store) outcomes(ctx context.Context, q driver.QueryerContext, of []ack) (there map[uuid.UUID]bool, err error) {
	there = map[uuid.UUID]bool{}
	if len(of) == 0 {
		return there, nil
	}
	args := make([]driver.NamedValue, len(of))
	for i, one := range of {
		args[i] = driver.NamedValue{Ordinal: i + 1, Value: one.Token[:]}
	}
	rows, err := q.QueryContext(ctx, sqlOutcomesThere+tuple(len(of)), args)
	if s.sql.IsNoTable(err) {
		return there, nil // there is no such table: a database that is empty has nothing
	}
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for row := make([]driver.Value, 1); ; {
		switch err := rows.Next(row); err {
		case nil:
			token, _ := row[0].([]byte)
			id, err := uuid.FromBytes(token)
			if err != nil {
				return nil, err
			}
			there[id] = true
		case io.EOF:
			return there, nil
		default:
			return nil, err
		}
	}
}

// watchRewinds is followRewinds while the database may be away.
func (s *Store) watchRewinds(ctx context.Context) {
	err := s.followRewinds(ctx)
	if err != nil && ctx.Err() == nil && !s.sql.IsAway(err) {
		s.log.WarnContext(ctx, "whether the database has lost anything could not be found out; trying again", "error", err)
	}
}

// followRewinds checks the database, has it say what this node has noticed, and refuses what it says.
func (s *Store) followRewinds(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	conn, err := s.readers.Conn(ctx)
	if err != nil {
		return err
	}
	err = conn.Raw(func(raw any) error { return s.check(ctx, raw) })
	_ = conn.Close()
	if err != nil {
		return err
	}
	if err := s.setClock(ctx); err != nil {
		return err
	}
	if err := s.tellRewinds(ctx); err != nil {
		return err
	}
	return s.loadRewinds(ctx)
}

// tellRewinds writes what the database does not say yet, to everybody's table and to the audit log.
func (s *Store) tellRewinds(ctx context.Context) error {
	s.rewinds.telling.Lock()
	defer s.rewinds.telling.Unlock()
	s.rewinds.mu.RLock()
	owed := make([]ack, 0, len(s.rewinds.owed))
	for _, gone := range s.rewinds.owed {
		owed = append(owed, gone)
	}
	s.rewinds.mu.RUnlock()
	for _, gone := range owed {
		var number int64
		org, name := gone.Org.String(), string(gone.Name)
		if err := s.readers.QueryRowContext(ctx, sqlThere, org, name).Scan(&number); err != nil &&
			!errors.Is(err, sql.ErrNoRows) {
			return err
		}
		event := audit.Event{Org: gone.Org, At: s.now(), Action: audit.StateRewind, State: name, Version: gone.Number,
			Actor: audit.Actor{KeyID: "holdfast"},
			Note:  fmt.Sprintf("acknowledged %s; the database has version %d", gone.At.UTC().Format(time.RFC3339), number)}
		newest := s.sql.Or("org, name", "number = GREATEST(state_rewinds.number, "+s.sql.Given("number")+")")
		err := s.transact(ctx, state.Ref{Org: gone.Org}, 0, func(t *tx) error {
			if err := t.Later(sqlAddRewind+newest, org, name, int64(gone.Number), gone.At.UTC(), number); err != nil {
				return err
			}
			return t.AddEvent(event)
		})
		if err != nil {
			return err
		}
		if err := s.told(gone); err != nil {
			return err
		}
	}
	return nil
}

// told forgets the changes of a state that are gone, if nothing more has been noticed of it meanwhile.
func (s *Store) told(gone ack) error {
	s.rewinds.mu.Lock()
	newest := s.rewinds.owed[gone.ref()] == gone
	if newest {
		delete(s.rewinds.owed, gone.ref())
	}
	s.rewinds.mu.Unlock()
	if !newest {
		return nil
	}
	return s.acks.forget(func(one ack) bool { return one.missed && one.ref() == gone.ref() })
}

// loadRewinds refuses what the database says, and nothing else but what it does not say yet.
func (s *Store) loadRewinds(ctx context.Context) error {
	rows, err := s.readers.QueryContext(ctx, sqlRewinds)
	if err != nil {
		return err
	}
	defer rows.Close()
	refused := map[state.Ref]ack{}
	for rows.Next() {
		var gone ack
		var name []byte
		if err := rows.Scan(&gone.Org, &name, &gone.Number); err != nil {
			return err
		}
		gone.Name = state.Name(name)
		refused[gone.ref()] = gone
	}
	if err := rows.Err(); err != nil {
		return err
	}
	s.rewinds.mu.Lock()
	defer s.rewinds.mu.Unlock()
	for ref, gone := range s.rewinds.owed {
		refused[ref] = gone
	}
	s.rewinds.refused = refused
	return nil
}
