package states

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
)

const (
	// attemptTimeout bounds one attempt of a transaction, with the time for each megabyte that
	// it writes. It is longer than mysqldb.LockWait, so that a lock that is not freed is told
	// from a server that does not answer.
	attemptTimeout  = 20 * time.Second
	timePerMegabyte = 2 * time.Second
	rollbackTimeout = 5 * time.Second
	connectionWait  = 10 * time.Second
	settleTimeout   = 20 * time.Second
	settlePause     = 200 * time.Millisecond
	insistFor       = 30 * time.Second // with what an attempt takes that has begun by then
	conflictTries   = 20
	conflictPause   = 5 * time.Millisecond
	longestPause    = 250 * time.Millisecond
	lostTries       = 4
	longestRemember = time.Hour // after which nobody looks for a token any more
)

// errUndone says that a transaction whose COMMIT was cut off has not happened, and never will.
var errUndone = errors.New("states: the transaction was undone")

// errUnknown says that nobody can say whether a transaction has happened: it may not be made again.
var errUnknown = errors.New("states: the outcome of the transaction is unknown")

// transact runs work in a transaction, and returns nil when what it wrote is durable. An error of
// work's undoes all of it and is what transact returns. work may run several times, from the
// beginning. bytes is about how much it writes. ctx counts until it has begun.
func (s *Store) transact(ctx context.Context, ref state.Ref, bytes int, work func(*tx) error) error {
	if err := s.rewinds.of(ref); err != nil {
		return err
	}
	leave, err := s.lanes.enter(ctx, ref)
	if err != nil {
		return err
	}
	defer leave()
	release, err := s.writing.Acquire(ctx, ref.Org)
	if err != nil {
		return err
	}
	defer release()
	if err := ctx.Err(); err != nil {
		return err
	}
	s.owed.Store(true)
	return s.explain(ctx, s.insist(context.WithoutCancel(ctx), ref, bytes, work))
}

// insist makes the transaction until its outcome is known, or can't be.
func (s *Store) insist(ctx context.Context, ref state.Ref, bytes int, work func(*tx) error) error {
	began := time.Now()
	for conflicts, lost := 0, 0; ; {
		err := s.attempt(ctx, ref, bytes, work)
		switch {
		case time.Since(began) > insistFor, errors.Is(err, errUnknown):
			return err
		case s.sql.IsUndone(err) && conflicts < conflictTries:
			conflicts++
			time.Sleep(rand.N(min(time.Duration(conflicts)*conflictPause, longestPause)))
		case (errors.Is(err, errUndone) || s.sql.IsAway(err)) && lost < lostTries:
			lost++
		default:
			return err
		}
	}
}

// attempt runs the transaction once.
func (s *Store) attempt(ctx context.Context, ref state.Ref, bytes int, work func(*tx) error) error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout+time.Duration(bytes>>20)*timePerMegabyte)
	defer cancel()
	conn, err := s.connection(ctx)
	if err != nil {
		return err
	}
	err = s.rewinds.of(ref) // also what this connection has just noticed
	var t *tx
	if err == nil {
		t, err = s.newTx(ctx, conn, ref)
	}
	if err == nil {
		err = work(t)
	}
	if err == nil && t.wrote {
		err = t.commit()
	} else {
		s.abandon(conn, err)
		return err
	}
	if err == nil {
		_ = conn.Close() // back to the pool
		s.remember(ctx, t)
		return nil
	}
	s.abandon(conn, err)
	if !t.sent || s.sql.IsUndone(err) {
		return err
	}
	outcome := s.settle(t.token, began, err)
	switch {
	case outcome == nil:
		s.remember(ctx, t)
	case errors.Is(outcome, errUndone) && s.sql.IsServers(err) && !s.sql.IsAway(err):
		return err // which says why
	}
	return outcome
}

// connection waits for a connection only for so long: the pool may be exhausted.
func (s *Store) connection(ctx context.Context) (*sql.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectionWait)
	defer cancel()
	return s.writers.Conn(ctx)
}

// abandon ends a transaction that is not to be. A connection that may still be in it must not
// go back to the pool.
func (s *Store) abandon(conn *sql.Conn, reason error) {
	ctx, cancel := context.WithTimeout(context.Background(), rollbackTimeout)
	defer cancel()
	clean := false
	if !s.sql.IsAway(reason) {
		_, err := conn.ExecContext(ctx, "ROLLBACK")
		clean = err == nil
	}
	if !clean {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	_ = conn.Close()
}

// settle finds out what became of a transaction whose COMMIT was sent: nil when it has happened,
// errUndone when it has not. It adds the transaction's token itself, marked as undone. That waits for
// the other one, if it is still under way, and fails if that has happened; if it succeeds, the other
// one can't happen any more, whatever is still on its way. Where the answer to that is lost, too, the
// mark says whose the token is that is there.
func (s *Store) settle(token uuid.UUID, began time.Time, lost error) error {
	ctx, cancel := context.WithTimeout(context.Background(), settleTimeout)
	defer cancel()
	for {
		// By both clocks: one stands still while the machine sleeps.
		if time.Since(began) > longestRemember || time.Now().Round(0).Sub(began.Round(0)) > longestRemember {
			return errUnsettled(lost)
		}
		undone, err := s.undo(ctx, token)
		switch {
		case err == nil && undone:
			return errUndone
		case err == nil:
			return nil
		case !s.sql.IsAway(err) && !s.sql.IsConflict(err) || ctx.Err() != nil:
			return errUnsettled(errors.Join(lost, err))
		}
		pause(ctx, settlePause)
	}
}

// undo adds a token that keeps its transaction from happening, and reports whether it is there; not
// when the transaction's own is.
func (s *Store) undo(ctx context.Context, token uuid.UUID) (undone bool, err error) {
	_, err = s.readers.ExecContext(ctx, sqlUndo, token[:])
	if err == nil {
		return true, nil
	}
	if !s.sql.IsDuplicate(err) {
		return false, err
	}
	return undone, s.readers.QueryRowContext(ctx, sqlIsUndone, token[:]).Scan(&undone)
}

// errUnsettled is the fault of a change of which nobody can say whether it was recorded.
func errUnsettled(err error) error {
	f := fault.Wrap(errors.Join(errUnknown, err), fault.StoreUnavailable,
		"the connection to the database was lost while the change was recorded, and whether it was can't be found out; "+
			"look, and try again")
	f.RetryAfter = 2 * time.Second
	return f
}

// pause returns after d, or when ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
