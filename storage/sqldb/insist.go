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

// insist makes the transaction on a server until its outcome is known, or can't be: when the connection is
// lost before COMMIT was sent, the server undoes it, and it is made again.
func insist(ctx context.Context, db *sql.DB, d Dialect, fn func(sqlTx) error) error {
	conflicts, lost := 0, 0
	for {
		err := attempt(ctx, db, d, fn)
		_, committing := errors.AsType[errCommit](err)
		switch {
		case d.isConflict(err) && conflicts < conflictTries:
			conflicts++
			time.Sleep(rand.N(time.Duration(conflicts) * 20 * time.Millisecond))
		case err != nil && d.isAway(err) && !committing && ctx.Err() == nil && lost < lostTries:
			lost++
		default:
			return err
		}
	}
}

// attempt runs the transaction once. The call's context counts until it has begun.
func attempt(ctx context.Context, db *sql.DB, d Dialect, fn func(sqlTx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	return transact(ctx, db, d, nil, fn)
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
