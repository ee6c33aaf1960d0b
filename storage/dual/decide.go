package dual

import (
	"database/sql"
	"errors"
	"time"
)

const (
	sqlNote = `UPDATE batches SET owes = ?, refused = ?, reason = ? WHERE seq = ?`
	sqlBury = `INSERT INTO dead_letters (org, id, digest, request, at, buried, count, refused, reason, body)
		SELECT org, id, digest, request, at, ?, count, ?, ?, body FROM batches WHERE seq = ?`
)

// fate is what becomes of a batch.
type fate int

const (
	owing  fate = iota // it is still owed to a side
	shared             // every side has it
	buried             // one side has it, and the other refuses it: it is a dead letter
	gone               // no side has it
)

// answered takes in what a side said for certain of the batch of a row.
type answered func(*row)

// recordedBy is the answer of a side that has the batch.
func recordedBy(n name) answered {
	return func(r *row) { r.owes = r.owes.without(names(0).with(n)) }
}

// refusedBy is the answer of a side that will never take the batch.
func refusedBy(n name, reason string) answered {
	return func(r *row) {
		r.owes = r.owes.without(names(0).with(n))
		r.refused, r.reason = r.refused.with(n), reason
	}
}

// decide brings a side's answer to a row, durably, and says what follows from it and from
// what the other side has said.
func (o *outbox) decide(seq int64, answer answered, now time.Time) (f fate, r row, err error) {
	err = o.do(func(t tx) (err error) {
		if r, err = o.scan(t.queryRow(sqlRow, seq)); errors.Is(err, sql.ErrNoRows) {
			f = shared
			return nil
		}
		if err != nil {
			return err
		}
		answer(&r)
		f = r.fate()
		return t.carryOut(f, r, now)
	})
	return f, r, err
}

func (r row) fate() fate {
	switch {
	case r.owes != 0:
		return owing
	case r.refused == 0:
		return shared
	case r.undecided():
		return gone
	}
	return buried
}

func (t tx) carryOut(f fate, r row, now time.Time) error {
	if f == owing {
		_, err := t.exec(sqlNote, int64(r.owes), int64(r.refused), r.reason, r.seq)
		return err
	}
	if f == buried {
		if _, err := t.exec(sqlBury, now.UnixMicro(), int64(r.refused), r.reason, r.seq); err != nil {
			return err
		}
	}
	_, err := t.exec(sqlRemove, r.seq)
	return err
}
