package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/pause"
)

const (
	// attemptTimeout bounds one attempt of a transaction, with the time for each megabyte that it writes. It is longer
	// than a server lets a statement wait for a lock, so that a lock that is not freed is told from a server that does
	// not answer.
	attemptTimeout  = 20 * time.Second
	timePerMegabyte = 2 * time.Second
	rollbackTimeout = 5 * time.Second
	connectionWait  = 10 * time.Second
	settleTimeout   = 20 * time.Second
	settlePause     = 200 * time.Millisecond
	conflictTries   = 20
	conflictPause   = 5 * time.Millisecond
	longestPause    = 250 * time.Millisecond
	lostTries       = 4
	// InsistFor is for how long a transaction is made anew, with what an attempt takes that has begun by then.
	InsistFor = 30 * time.Second
	// LongestRemember is after how long nobody looks for a token any more.
	LongestRemember = time.Hour
	// OutcomesKept is for how long outcomes are remembered.
	OutcomesKept = 3 * LongestRemember
	// forgetEvery is how often old outcomes are removed, and forgetRows how many at once.
	forgetEvery   = 10 * time.Minute
	forgetRows    = 1000
	forgetTimeout = 10 * time.Second
)

// ErrUndone says that a transaction whose COMMIT was cut off has not happened, and never will.
var ErrUndone = errors.New("sqldb: the transaction was undone")

// errUnknown says that nobody can say whether a transaction has happened: it may not be made again.
var errUnknown = errors.New("sqldb: the outcome of the transaction is unknown")

// Transactor makes transactions on a server that several nodes may share, until their outcome is known:
//
//   - One that lost against another is made again, and so is one whose connection was lost before its COMMIT.
//   - Each leaves a token in a table. When the answer to its COMMIT is lost, the token tells what became of it: adding
//     the token once more waits for the transaction if it is under way, fails if it has happened, and keeps it from
//     happening if it has not, whatever is still on its way.
//   - What takes longer than half a minute ends in fault.StoreUnavailable. Only where the server is away for so long
//     that the token can't be asked for, nobody knows what became of it, which the error says.
type Transactor struct {
	speaks   Dialect
	writers  *sql.DB // connections that transactions are made on
	asks     *sql.DB // connections that are in none
	outcomes string  // the table of tokens
	log      *slog.Logger
	stop     context.CancelFunc
	spawned  sync.WaitGroup
}

// NewTransactor returns one that keeps its tokens in a table with the columns token, at and undone. Until it is closed
// it removes old ones.
func NewTransactor(d Dialect, writers, asks *sql.DB, outcomes string, log *slog.Logger) *Transactor {
	ctx, stop := context.WithCancel(context.Background())
	t := &Transactor{speaks: d, writers: writers, asks: asks, outcomes: outcomes, log: log, stop: stop}
	t.spawned.Go(func() { t.forgetRegularly(ctx) })
	return t
}

// Close ends the removal of old tokens.
func (t *Transactor) Close() {
	t.stop()
	t.spawned.Wait()
}

// Do runs work in a transaction, and returns the transaction's token when what work wrote is durable. An error of
// work's undoes all of it and is what Do returns. work may run several times, from the beginning; bytes is about how
// much it writes. Once Do has begun it goes on, whatever ctx says.
func (t *Transactor) Do(ctx context.Context, bytes int, work func(*Session) error) (uuid.UUID, error) {
	ctx = context.WithoutCancel(ctx)
	began := time.Now()
	for conflicts, lost := 0, 0; ; {
		token, err := t.attempt(ctx, bytes, work)
		switch {
		case time.Since(began) > InsistFor, errors.Is(err, errUnknown):
			return token, err
		case t.speaks.IsUndone(err) && conflicts < conflictTries:
			conflicts++
			time.Sleep(rand.N(min(time.Duration(conflicts)*conflictPause, longestPause)))
		case (errors.Is(err, ErrUndone) || t.speaks.IsAway(err)) && lost < lostTries:
			lost++
		default:
			return token, err
		}
	}
}

// attempt runs the transaction once.
func (t *Transactor) attempt(ctx context.Context, bytes int, work func(*Session) error) (uuid.UUID, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout+time.Duration(bytes>>20)*timePerMegabyte)
	defer cancel()
	conn, err := t.Connection(ctx)
	if err != nil {
		return uuid.Nil, err
	}
	s, err := t.Begin(ctx, conn)
	if err == nil {
		err = work(s)
		err = cmp.Or(s.failed, err)
	}
	if err != nil || !s.wrote {
		t.speaks.Abandon(conn, err)
		return uuid.Nil, err
	}
	if err = t.Commit(s); err == nil {
		_ = conn.Close() // back to the pool
		return s.token, nil
	}
	t.speaks.Abandon(conn, err)
	if !s.sent || t.speaks.IsUndone(err) {
		return uuid.Nil, err
	}
	outcome := t.Settle(s.token, began, err)
	if errors.Is(outcome, ErrUndone) && t.speaks.IsServers(err) && !t.speaks.IsAway(err) {
		return uuid.Nil, err // which says why
	}
	return s.token, outcome
}

// Connection waits for a connection to begin a transaction on, but only for so long: the pool may be exhausted.
func (t *Transactor) Connection(ctx context.Context) (*sql.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectionWait)
	defer cancel()
	return t.writers.Conn(ctx)
}

// Begin begins a transaction on a connection. It is for Do, and for tests that stop in the middle of one.
func (t *Transactor) Begin(ctx context.Context, conn *sql.Conn) (*Session, error) {
	token, err := uuid.NewV7() // so that what is written together lies together
	s := &Session{ctx: ctx, conn: conn, speaks: t.speaks, token: token}
	if t.speaks == Postgres { // a connection of MySQL's that writes is always in a transaction
		s.kept.WriteString("BEGIN;")
	}
	return s, err
}

// Commit sends what is left with the token and the COMMIT.
func (t *Transactor) Commit(s *Session) error {
	s.sent = true
	if err := s.Later("INSERT INTO "+t.outcomes+" (token) VALUES (?)", s.token[:]); err != nil {
		return err
	}
	if err := s.Later("COMMIT"); err != nil {
		return err
	}
	return s.flush()
}

// Abandon ends a transaction on a connection of a server's that is not to be, and gives the connection back. One that may
// still be in it must not go back to the pool.
func (d Dialect) Abandon(conn *sql.Conn, reason error) {
	ctx, cancel := context.WithTimeout(context.Background(), rollbackTimeout)
	defer cancel()
	clean := false
	if !d.IsAway(reason) {
		_, err := conn.ExecContext(ctx, "ROLLBACK")
		clean = err == nil
	}
	if !clean {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	_ = conn.Close()
}

// Settle finds out what became of a transaction whose COMMIT was sent: nil when it has happened, ErrUndone when it has
// not. It adds the transaction's token itself, marked as undone. That waits for the other one, if it is still under
// way, and fails if that has happened; if it succeeds, the other one can't happen any more. Where the answer to that is
// lost, too, the mark says whose the token is that is there.
func (t *Transactor) Settle(token uuid.UUID, began time.Time, lost error) error {
	ctx, cancel := context.WithTimeout(context.Background(), settleTimeout)
	defer cancel()
	for {
		// By both clocks: one stands still while the machine sleeps.
		if time.Since(began) > LongestRemember || time.Now().Round(0).Sub(began.Round(0)) > LongestRemember {
			return errUnsettled(lost)
		}
		undone, err := t.undo(ctx, token)
		switch {
		case err == nil && undone:
			return ErrUndone
		case err == nil:
			return nil
		case !t.speaks.IsAway(err) && !t.speaks.IsConflict(err) || ctx.Err() != nil:
			return errUnsettled(errors.Join(lost, err))
		}
		_ = pause.For(ctx, settlePause)
	}
}

// undo adds a token that keeps its transaction from happening, and reports whether it is there; not when the
// transaction's own is.
func (t *Transactor) undo(ctx context.Context, token uuid.UUID) (undone bool, err error) {
	if t.speaks == Postgres {
		// It writes in any case, so that its own COMMIT waits for a standby which has the transaction's, too: that one may
		// have happened without, since it was given up while it waited for the standby.
		err = t.asks.QueryRowContext(ctx, "INSERT INTO "+t.outcomes+" (token, undone) VALUES (?, 1)"+
			t.speaks.Or("token", "undone = "+t.outcomes+".undone")+" RETURNING undone", token[:]).Scan(&undone)
		return undone, err
	}
	_, err = t.asks.ExecContext(ctx, "INSERT INTO "+t.outcomes+" (token, undone) VALUES (?, 1)", token[:])
	if err == nil {
		return true, nil
	}
	if !t.speaks.IsDuplicate(err) {
		return false, err
	}
	query := "SELECT undone FROM " + t.outcomes + " WHERE token = ?"
	return undone, t.asks.QueryRowContext(ctx, query, token[:]).Scan(&undone)
}

// errUnsettled is the fault of a change of which nobody can say whether it was recorded.
func errUnsettled(err error) error {
	f := fault.Wrap(errors.Join(errUnknown, err), fault.StoreUnavailable,
		"the connection to the database was lost while the change was recorded, and whether it was can't be found out; "+
			"look, and try again")
	f.RetryAfter = 2 * time.Second
	return f
}

func (t *Transactor) forgetRegularly(ctx context.Context) {
	for pause.For(ctx, forgetEvery) == nil {
		if err := t.Forget(ctx); err != nil && ctx.Err() == nil {
			t.log.WarnContext(ctx, "old outcomes of transactions could not be removed; trying again later", "error", err)
		}
	}
}

// Forget removes tokens that nobody asks for any more, by the server's time.
func (t *Transactor) Forget(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, forgetTimeout)
	defer cancel()
	var now int64
	if err := t.asks.QueryRowContext(ctx, "SELECT "+t.speaks.Now()).Scan(&now); err != nil {
		return err
	}
	before := TokenAt(time.UnixMicro(now).Add(-OutcomesKept))
	for {
		// By their place and by their time: the token of a node whose clock is wrong stays long enough.
		result, err := t.asks.ExecContext(ctx, t.speaks.DeleteSome(t.outcomes, "token", "token < ? AND "+t.speaks.olderThan(),
			"token"), before[:], int(OutcomesKept.Seconds()), forgetRows)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n < forgetRows {
			return err
		}
	}
}

// TokenAt is below all tokens that are made after a time.
func TokenAt(at time.Time) (id uuid.UUID) {
	ms := uint64(at.UnixMilli())
	for i := range 6 {
		id[i] = byte(ms >> (8 * (5 - i)))
	}
	return id
}

// olderThan is a condition on the time at which a row was added: that it is so many seconds ago.
func (d Dialect) olderThan() string {
	if d == Postgres {
		return "at < now() - ? * INTERVAL '1 second'"
	}
	return "at < NOW(6) - INTERVAL ? SECOND"
}
