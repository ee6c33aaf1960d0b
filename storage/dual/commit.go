package dual

import (
	"context"
	"database/sql"
	"maps"

	"github.com/holdfast/holdfast/fault"
)

const (
	sqlSettle = `UPDATE batches SET owes = owes & ~? WHERE seq = ?`
	sqlRemove = `DELETE FROM batches WHERE seq = ?`
	sqlClean  = `DELETE FROM batches WHERE seq = ? AND owes = 0`
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

func (o *outbox) transact(settled map[int64]names, jobs ...*job) error {
	if err := o.held.InPlace(); err != nil {
		return fault.Wrap(err, fault.StoreUnavailable, "the outbox's database file was removed or replaced while it was in use; put it back and restart")
	}
	tx, err := o.db.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	err = settleRows(tx, settled)
	for _, j := range jobs {
		if err == nil {
			err = j.run(tx)
		}
	}
	if err != nil {
		_ = tx.Rollback() // the first error is the one to report
		return err
	}
	if err := tx.Commit(); err != nil {
		_ = tx.Rollback()
		return err
	}
	o.forget(settled)
	return nil
}

func settleRows(tx *sql.Tx, settled map[int64]names) error {
	for seq, have := range settled {
		if have == both {
			if _, err := tx.Exec(sqlRemove, seq); err != nil {
				return err
			}
			continue
		}
		if _, err := tx.Exec(sqlSettle, int64(have), seq); err != nil {
			return err
		}
		if _, err := tx.Exec(sqlClean, seq); err != nil {
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
