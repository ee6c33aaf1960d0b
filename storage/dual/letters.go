package dual

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/holdfast/holdfast/fault"
)

// letterColumns are what scanLetter reads, but for the body.
const letterColumns = `SELECT number, org, id, digest, request, at, buried, count, refused, reason, tried, alike, length(body), `

const (
	sqlLetters      = letterColumns + `x'' FROM dead_letters ORDER BY number`
	sqlLetter       = letterColumns + `body FROM dead_letters WHERE number = ?`
	sqlLetterTried  = `UPDATE dead_letters SET tried = ?, alike = ? WHERE number = ?`
	sqlLetterReason = `UPDATE dead_letters SET reason = ? WHERE number = ?`
	sqlRemoveLetter = `DELETE FROM dead_letters WHERE number = ?`
)

// DeadLetter is a batch that one side has recorded and the other one refuses for good.
type DeadLetter struct {
	Number int64     `json:"number"`
	Org    uuid.UUID `json:"organization"`
	// Side is the one that refuses it.
	Side    string    `json:"side"`
	Request string    `json:"request"`
	At      time.Time `json:"timestamp"` // of its records on the other side
	Buried  time.Time `json:"since"`     // when it became a dead letter
	Records int       `json:"records"`
	Bytes   int64     `json:"bytes"` // in the outbox
	Reason  string    `json:"reason"`

	side  name
	tried time.Time // the timestamp that it was last sent with by an operator; zero for none
	alike int       // batches of the same records that the side had by that timestamp before
	row   row
}

// letters returns all dead letters in order, without their bodies.
func (o *outbox) letters(ctx context.Context) ([]DeadLetter, error) {
	return list(ctx, o, scanLetter, sqlLetters)
}

// letter returns a dead letter with its body.
func (o *outbox) letter(ctx context.Context, number int64) (DeadLetter, error) {
	l, err := scanLetter(o.readers.QueryRowContext(ctx, sqlLetter, number))
	if errors.Is(err, sql.ErrNoRows) {
		return l, fault.New(fault.ParameterInvalid, "there is no dead letter %d", number)
	}
	return l, storeError(err)
}

// explain changes why a dead letter is refused.
func (o *outbox) explain(number int64, reason string) error {
	return o.do(uuid.Nil, func(t tx) error {
		_, err := t.Exec(sqlLetterReason, reason, number)
		return err
	})
}

// trying notes the timestamp that a dead letter is about to be sent with, and how many batches
// like it the side has by that.
func (o *outbox) trying(number int64, at time.Time, alike int) error {
	return o.do(uuid.Nil, func(t tx) error {
		_, err := t.Exec(sqlLetterTried, at.UnixMicro(), alike, number)
		return err
	})
}

// removeLetter removes a dead letter for good.
func (o *outbox) removeLetter(number int64) error {
	return o.do(uuid.Nil, func(t tx) error {
		_, err := t.Exec(sqlRemoveLetter, number)
		return err
	})
}

func scanLetter(from scanner) (DeadLetter, error) {
	var l DeadLetter
	var org string
	var digest []byte
	var at, since, refused, tried int64
	r := &l.row
	err := from.Scan(&l.Number, &org, &r.id, &digest, &l.Request, &at, &since, &l.Records, &refused, &l.Reason, &tried, &l.alike, &l.Bytes, &r.body)
	if err != nil {
		return DeadLetter{}, err
	}
	l.Org, err = uuid.Parse(org)
	l.At, l.Buried = time.UnixMicro(at).UTC(), time.UnixMicro(since).UTC()
	if tried != 0 {
		l.tried = time.UnixMicro(tried).UTC()
	}
	if names(refused).has(mysql) {
		l.side = mysql
	}
	l.Side = l.side.String()
	copy(r.digest[:], digest)
	r.org, r.request, r.at, r.count, r.size = l.Org, l.Request, l.At, l.Records, l.Bytes+rowOverhead
	return l, err
}
