package dual

import (
	"context"
	"database/sql"
	"maps"
)

const (
	sqlSettle = `UPDATE batches SET owes = owes & ~? WHERE seq = ?`
	sqlRemove = `DELETE FROM batches WHERE seq = ?`
	sqlClean  = `DELETE FROM batches WHERE seq = ? AND owes = 0 AND refused = 0`
)

// commit runs the jobs in one transaction, the settled rows first. If that fails, each
// job runs alone, so that one can't fail the others.
func (o *outbox) commit(batch []*job) {
	settled := o.takeStock()
	if len(batch) == 0 && len(settled) == 0 {
		return
	}
	err := o.transact(settled, batch...)
	if err != nil && len(batch) == 0 {
		o.log.Warn("the outbox could not be tidied up", "error", err)
	}
	if err == nil || len(batch) <= 1 {
		answer(err, batch...)
		return
	}
	o.log.Warn("a batch of uploads was rolled back in the outbox; each runs alone now", "uploads", len(batch), "error", err)
	for _, j := range batch {
		answer(o.transact(settled, j), j)
	}
}

func answer(err error, batch ...*job) {
	for _, j := range batch {
		j.done <- storeError(err)
	}
}

func (o *outbox) takeStock() map[int64]names {
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.settled)
}

// tx is the transaction under way. Its statements run to their end: what has begun is not
// given up half way.
type tx struct{ conn *sql.Conn }

func (t tx) exec(statement string, args ...any) (sql.Result, error) {
	return t.conn.ExecContext(context.Background(), statement, args...)
}

func (t tx) queryRow(query string, args ...any) *sql.Row {
	return t.conn.QueryRowContext(context.Background(), query, args...)
}

func (o *outbox) transact(settled map[int64]names, jobs ...*job) error {
	err := o.writer.Transact(func(conn *sql.Conn) error {
		t := tx{conn}
		if err := settleRows(t, settled); err != nil {
			return err
		}
		for _, j := range jobs {
			if err := j.run(t); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		o.forget(settled)
	}
	return err
}

func settleRows(t tx, settled map[int64]names) error {
	for seq, have := range settled {
		if have == both {
			if _, err := t.exec(sqlRemove, seq); err != nil {
				return err
			}
			continue
		}
		if _, err := t.exec(sqlSettle, int64(have), seq); err != nil {
			return err
		}
		if _, err := t.exec(sqlClean, seq); err != nil {
			return err
		}
	}
	return nil
}

// forget drops what is in the database now. What was settled meanwhile stays.
func (o *outbox) forget(settled map[int64]names) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for seq, have := range settled {
		if o.settled[seq] == have {
			delete(o.settled, seq)
		}
	}
}
