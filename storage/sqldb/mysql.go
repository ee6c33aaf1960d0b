package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/mysqldb"
)

const (
	// writeTimeout bounds one attempt. It is longer than mysqldb.LockWait, so that a lock that
	// is not freed is told from a server that does not answer.
	writeTimeout = 30 * time.Second
	// conflictTries and lostTries are how often a transaction is made again.
	conflictTries = 10
	lostTries     = 1
)

// mysql is a database that several nodes may share.
type mysql struct{ db *sql.DB }

func openMySQL(ctx context.Context, o mysqldb.Options, wait time.Duration) (engine, int, error) {
	o.FoundRows = true // so that an UPDATE that changes nothing still says that there is a row
	o, err := o.WithDefaults()
	if err != nil {
		return nil, 0, err
	}
	db, err := o.OpenPool(o.Name)
	if err != nil {
		return nil, 0, err
	}
	err = o.Await(ctx, wait, func(ctx context.Context) error {
		if err := o.Reach(ctx, db); err != nil {
			return err
		}
		return o.Migrate(ctx, schemaOf(MySQL))
	})
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("database %v: %w", o, err), db.Close())
	}
	// Reads leave connections to those who write.
	return &mysql{db}, max(o.MaxOpenConns/2, 1), nil
}

func (e *mysql) dialect() Dialect { return MySQL }

func (e *mysql) explain(err error) error { return mysqlError(err) }

// scrub leaves its files to the server.
func (e *mysql) scrub(context.Context) error { return nil }

func (e *mysql) close() error { return e.db.Close() }

// read sees one moment: the connections' own isolation level sees each statement's.
func (e *mysql) read(ctx context.Context, fn func(Querier) error) error {
	return readOn(ctx, e.db, MySQL, &sql.TxOptions{Isolation: sql.LevelRepeatableRead}, fn)
}

func (e *mysql) pool() *sql.DB { return e.db }

// write makes the transaction until its outcome is known, or can't be: when the connection is
// lost before COMMIT was sent, the server undoes it, and it is made again.
func (e *mysql) write(ctx context.Context, org uuid.UUID, _ int, fn func(Tx) error) error {
	conflicts, lost := 0, 0
	for {
		err := e.attempt(ctx, org, fn)
		_, committing := errors.AsType[errCommit](err)
		switch {
		case mysqldb.IsConflict(err) && conflicts < conflictTries:
			conflicts++
			time.Sleep(rand.N(time.Duration(conflicts) * 20 * time.Millisecond))
		case err != nil && mysqldb.IsAway(err) && !committing && ctx.Err() == nil && lost < lostTries:
			lost++
		default:
			return err
		}
	}
}

// attempt runs the transaction once. The call's context counts until it has begun.
func (e *mysql) attempt(ctx context.Context, org uuid.UUID, fn func(Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	return transact(ctx, e.db, MySQL, nil, func(t sqlTx) error {
		if err := lockOrganization(t, org); err != nil {
			return err
		}
		return fn(t)
	})
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
