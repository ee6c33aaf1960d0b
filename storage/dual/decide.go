package dual

import (
	"database/sql"
	"errors"
	"time"

	"github.com/holdfast/holdfast/fault"
)

const (
	sqlNote = `UPDATE batches SET owes = ?, refused = ?, knows = ?, reason = ? WHERE seq = ?`
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
func refusedBy(n name, reason error) answered {
	return func(r *row) {
		r.owes = r.owes.without(names(0).with(n))
		r.refused, r.reason = r.refused.with(n), reasonOf(reason)
		if fault.Is(reason, fault.IdempotencyMismatch) {
			r.knows = r.knows.with(n)
		}
	}
}

// relent takes back the refusal of a side that knows the ID for another batch, when the other
// side has this one: it is owed the batch then, which goes by another ID.
func (r *row) relent() {
	if r.knows != 0 && !r.undecided() {
		r.owes, r.refused, r.knows, r.reason = r.owes|r.knows, r.refused.without(r.knows), 0, ""
	}
}

// decide brings a side's answer to a row, durably, and says what follows from it and from
// what the other side has said.
func (o *outbox) decide(of row, answer answered, now time.Time) (f fate, r row, err error) {
	err = o.do(of.org, func(t tx) (err error) {
		if r, err = o.scan(t.QueryRow(sqlRow, of.seq)); errors.Is(err, sql.ErrNoRows) {
			f = shared
			return nil
		}
		if err != nil {
			return err
		}
		answer(&r)
		r.relent()
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
		_, err := t.Exec(sqlNote, int64(r.owes), int64(r.refused), int64(r.knows), r.reason, r.seq)
		return err
	}
	if f == buried {
		if _, err := t.Exec(sqlBury, now.UnixMicro(), int64(r.refused), r.reason, r.seq); err != nil {
			return err
		}
	}
	_, err := t.Exec(sqlRemove, r.seq)
	return err
}
