package states

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/storage/moving"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// What follows from other rows, and can be made of them again. The journal counts as part of what is counted.
const (
	miscountedFrom = ` FROM (
	SELECT org, bytes FROM state_usage UNION ALL SELECT org, bytes FROM state_journal
	UNION ALL SELECT coalesce(owner, org), -512 - 2 * (GREATEST(coalesce(LENGTH(lock_raw), 0), 1024) - 1024) FROM state_heads
	UNION ALL SELECT coalesce(s.owner, s.org), -512 - v.stored_bytes FROM state_versions v JOIN state_heads s ON s.id = v.state
	UNION ALL SELECT coalesce(s.owner, s.org), -512 - c.stored_bytes FROM state_candidates c JOIN state_heads s ON s.id = c.state
	) counted GROUP BY org HAVING SUM(bytes) <> 0`

	sqlTotalsOff = `SELECT
	(SELECT COUNT(*) FROM state_heads WHERE newest IS NOT NULL AND deleted_at IS NULL AND org <> '') - l.states
		- (SELECT coalesce(SUM(states), 0) FROM state_journal),
	(SELECT COUNT(*) FROM state_heads WHERE lock_id IS NOT NULL AND org <> '') - l.locks
		- (SELECT coalesce(SUM(locks), 0) FROM state_journal)
	FROM state_log l WHERE l.id = 1`

	// What is being removed for good is in no list.
	headsUnlisted = ` WHERE org <> '' AND ((is_deleted = 1) <> (deleted_at IS NOT NULL) OR (is_locked = 1) <> (lock_id IS NOT NULL)
	OR (is_expected = 1) <> (expected IS NOT NULL))`
	candidatesUnlisted = ` WHERE (is_open = 1) <> (status = 'open')`
	sqlUnlisted        = `SELECT (SELECT COUNT(*) FROM state_heads` + headsUnlisted + `) +
	(SELECT COUNT(*) FROM state_candidates` + candidatesUnlisted + `)`
)

// Derived says what does not follow from the rest as it should, at one moment.
type Derived struct {
	Miscounted    []Miscounted
	States, Locks int64 // by how much more there are than is counted
	Unlisted      int64 // rows of heads and candidates that lists take for something else
}

// Miscounted is by how much more bytes an organization uses than is counted.
type Miscounted struct {
	Org  string
	More int64
}

// CheckDerived asks for all of it. What it is asked of shows one moment.
func CheckDerived(q moving.Querier, in sqldb.Dialect) (d Derived, err error) {
	if d.Miscounted, err = miscounted(q, dialect{in}); err != nil {
		return d, err
	}
	if d.States, d.Locks, err = totalsOff(q); err != nil {
		return d, err
	}
	rows, err := q.Query(sqlUnlisted)
	if err != nil {
		return d, err
	}
	return d, eachRow(rows, func(scan stateengine.Scan) error { return scan(&d.Unlisted) })
}

func miscounted(q moving.Querier, in dialect) (all []Miscounted, err error) {
	rows, err := q.Query("SELECT org, " + in.integer("-SUM(bytes)") + miscountedFrom)
	if err != nil {
		return nil, err
	}
	return all, eachRow(rows, func(scan stateengine.Scan) error {
		var one Miscounted
		err := scan(&one.Org, &one.More)
		all = append(all, one)
		return err
	})
}

// totalsOff is zero where the row of the log is gone.
func totalsOff(q moving.Querier) (states, locks int64, err error) {
	rows, err := q.Query(sqlTotalsOff)
	if err != nil {
		return 0, 0, err
	}
	return states, locks, eachRow(rows, func(scan stateengine.Scan) error { return scan(&states, &locks) })
}

func eachRow(rows *sql.Rows, fn func(stateengine.Scan) error) error {
	return stateengine.Each(rows, func(scan stateengine.Scan) (struct{}, error) { return struct{}{}, fn(scan) },
		func(struct{}) bool { return true })
}

// CountUsage counts anew what organizations use. Nodes may go on meanwhile.
func CountUsage(ctx context.Context, o Options) error {
	return repair(ctx, o, sql.LevelRepeatableRead, func(tx moving.Tx, in dialect) error {
		all, err := miscounted(tx, in)
		if err != nil || len(all) == 0 {
			return err
		}
		for _, one := range all {
			if _, err := tx.Exec(sqlAddUsage+tuple(2)+in.moreUsage(), one.Org, one.More); err != nil {
				return err
			}
		}
		return nil
	})
}

// CountTotals counts anew how many states and locks there are. Nodes may go on meanwhile.
func CountTotals(ctx context.Context, o Options) error {
	return repair(ctx, o, sql.LevelRepeatableRead, func(tx moving.Tx, _ dialect) error {
		states, locks, err := totalsOff(tx)
		if err == nil {
			_, err = tx.Exec("UPDATE state_log SET states = states + ?, locks = locks + ? WHERE id = 1", states, locks)
		}
		return err
	})
}

// MarkForLists has lists find what they are to find. Nodes may go on meanwhile.
func MarkForLists(ctx context.Context, o Options) error {
	// Of rows that are right none stays locked.
	return repair(ctx, o, sql.LevelReadCommitted, func(tx moving.Tx, _ dialect) error {
		is := func(column, condition string) string {
			return column + " = CASE WHEN " + condition + " THEN 1 ELSE 0 END"
		}
		_, err := tx.Exec("UPDATE state_heads SET " + is("is_deleted", "deleted_at IS NOT NULL") + ", " +
			is("is_locked", "lock_id IS NOT NULL") + ", " + is("is_expected", "expected IS NOT NULL") + headsUnlisted)
		if err == nil {
			_, err = tx.Exec("UPDATE state_candidates SET " + is("is_open", "status = 'open'") + candidatesUnlisted)
		}
		return err
	})
}

// repair changes something in one transaction, while nobody moves the journal. With repeatable reads all that it reads
// is of one moment, so that what is added to a count by how much it is off is right whatever else is written meanwhile;
// and there is one repair at a time, else two would add it twice.
func repair(ctx context.Context, o Options, isolation sql.IsolationLevel,
	fn func(moving.Tx, dialect) error) (err error) {
	server, err := serverOf(o)
	if err != nil {
		return err
	}
	in := server.dialect()
	db, err := server.fewPool(2)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	unlock, err := server.lockSchema(ctx, db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: isolation})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("repair the database %v: %w", server, err), tx.Rollback())
		}
	}()
	if _, err := tx.ExecContext(ctx, in.lockLog()); err != nil {
		return err
	}
	if err := fn(repairing{ctx, tx}, in); err != nil {
		return err
	}
	return tx.Commit()
}

// repairing is a moving.Tx.
type repairing struct {
	ctx context.Context
	tx  *sql.Tx
}

// Query implements moving.Querier.
func (r repairing) Query(query string, args ...any) (*sql.Rows, error) {
	return r.tx.QueryContext(r.ctx, query, args...)
}

// Exec implements moving.Tx.
func (r repairing) Exec(query string, args ...any) (sql.Result, error) {
	return r.tx.ExecContext(r.ctx, query, args...)
}
