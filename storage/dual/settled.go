package dual

import (
	"maps"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/sqlitedb"
)

const (
	sqlSettle = `UPDATE batches SET owes = owes & ~? WHERE seq = ?`
	sqlRemove = `DELETE FROM batches WHERE seq = ?`
	sqlClean  = `DELETE FROM batches WHERE seq = ? AND owes = 0 AND refused = 0`
)

// tx is the writer's transaction.
type tx struct{ *sqlitedb.Tx }

// settle notes that sides have the batch.
func (o *outbox) settle(seq int64, have names) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.settled[seq] |= have
	if len(o.settled) >= settleMost {
		select {
		case o.hurry <- struct{}{}:
		default: // on its way
		}
	}
}

// without returns what is left of a row's debts.
func (o *outbox) without(seq int64, owes names) names {
	o.mu.Lock()
	defer o.mu.Unlock()
	return owes.without(o.settled[seq])
}

func (o *outbox) takeStock() map[int64]names {
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.settled)
}

// noteSettled begins each transaction of the writer's with what is settled.
func (o *outbox) noteSettled(t *sqlitedb.Tx) error {
	o.writing = o.takeStock()
	for seq, have := range o.writing {
		if have == both {
			if _, err := t.Exec(sqlRemove, seq); err != nil {
				return err
			}
			continue
		}
		if _, err := t.Exec(sqlSettle, int64(have), seq); err != nil {
			return err
		}
		if _, err := t.Exec(sqlClean, seq); err != nil {
			return err
		}
	}
	return nil
}

func (o *outbox) forgetNoted() { o.forget(o.writing) }

// forget drops what is in the database now. What was settled meanwhile stays.
func (o *outbox) forget(noted map[int64]names) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for seq, have := range noted {
		if o.settled[seq] == have {
			delete(o.settled, seq)
		}
	}
}

// tidy has what is settled noted in time when there are no uploads, and at the end.
func (o *outbox) tidy() {
	defer close(o.stopped)
	tick := time.NewTicker(settleWithin)
	defer tick.Stop()
	for stopped := false; !stopped; {
		select {
		case <-o.stop:
			stopped = true
		case <-o.hurry:
		case <-tick.C:
		}
		if len(o.takeStock()) == 0 {
			continue
		}
		// Each transaction notes it: one without any other work will do.
		if err := o.do(uuid.Nil, func(tx) error { return nil }); err != nil {
			o.log.Warn("the outbox could not be tidied up", "error", err)
		}
	}
}
