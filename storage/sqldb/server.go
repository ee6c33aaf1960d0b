package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
)

const (
	// writeTimeout bounds one attempt. It is longer than a server lets a statement wait for a lock, so that a lock that
	// is not freed is told from a server that does not answer.
	writeTimeout = 30 * time.Second
	// readTimeout bounds a read, unless Options.Patience does.
	readTimeout = 30 * time.Second
	// conflictTries and lostTries are how often a transaction is made again.
	conflictTries = 10
	lostTries     = 1
)

// server is a database that several nodes may share.
type server struct {
	db      *sql.DB // for reads
	writers *sql.DB // the same, or connections that are set up for transactions
	speaks  Dialect
	patient time.Duration // with a read
}

func (s *server) dialect() Dialect { return s.speaks }

// scrub leaves its files to the server.
func (s *server) scrub(context.Context) error { return nil }

func (s *server) close() error { return errors.Join(s.writers.Close(), s.db.Close()) }

// read sees one moment: the connections' own isolation level sees each statement's.
func (s *server) read(ctx context.Context, fn func(Querier) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.patient)
	defer cancel()
	o := &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: s.speaks == Postgres} // which takes no trip more
	return readOn(ctx, s.db, s.speaks, o, fn)
}

func (s *server) ask(ctx context.Context, fn func(Querier) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.patient)
	defer cancel()
	return askOn(ctx, s.db, s.speaks, fn)
}

func (s *server) write(ctx context.Context, org uuid.UUID, _ int, fn func(Tx) error) error {
	return s.insist(ctx, func(t sqlTx) error {
		if err := lockOrganization(t, org); err != nil {
			return err
		}
		return fn(t)
	})
}

func (s *server) writeOwn(ctx context.Context, fn func(Tx) error) error {
	return s.insist(ctx, func(t sqlTx) error { return fn(t) })
}

// insist makes the transaction until its outcome is known, or can't be: when the connection is
// lost before COMMIT was sent, the server undoes it, and it is made again.
func (s *server) insist(ctx context.Context, fn func(sqlTx) error) error {
	conflicts, lost := 0, 0
	for {
		err := s.attempt(ctx, fn)
		_, committing := errors.AsType[errCommit](err)
		switch {
		case s.speaks.IsConflict(err) && conflicts < conflictTries:
			conflicts++
			time.Sleep(rand.N(time.Duration(conflicts) * 20 * time.Millisecond))
		case err != nil && s.speaks.IsAway(err) && !committing && ctx.Err() == nil && lost < lostTries:
			lost++
		default:
			return err
		}
	}
}

// attempt runs the transaction once. The call's context counts until it has begun.
func (s *server) attempt(ctx context.Context, fn func(sqlTx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	return transact(ctx, s.writers, s.speaks, nil, fn)
}

// lockOrganization has the organization's other transactions wait for this one.
func lockOrganization(t sqlTx, org uuid.UUID) error {
	for {
		var locked string
		found, err := One(t, []any{&locked}, "SELECT org FROM organizations WHERE org = ? FOR UPDATE", org.String())
		if found || err != nil {
			return err
		}
		// Who inserts it has it locked; who finds it inserted meanwhile locks it then.
		inserted, err := Insert(t, "INSERT INTO organizations (org, bytes) VALUES (?, 0)", org.String())
		if inserted || err != nil {
			return err
		}
	}
}
