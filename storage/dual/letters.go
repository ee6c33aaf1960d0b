package dual

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// letterColumns are what scanLetter reads, but for the body.
const letterColumns = `SELECT number, org, id, digest, request, at, buried, count, refused, reason, tried, alike, taken, length(body), `

const (
	sqlLetters   = letterColumns + `x'' FROM dead_letters ORDER BY number`
	sqlLetter    = letterColumns + `body FROM dead_letters WHERE number = ?`
	sqlLettersBy = letterColumns +
		`body FROM dead_letters WHERE org = ? AND refused = ? AND number != ? AND (at = ? OR tried = ?) ORDER BY number`
	sqlLetterTried  = `UPDATE dead_letters SET tried = ?, alike = ? WHERE number = ?`
	sqlLetterReason = `UPDATE dead_letters SET reason = ? WHERE number = ?`
	// sqlLetterRefused forgets the try: the side surely has nothing by it.
	sqlLetterRefused = `UPDATE dead_letters SET reason = ?, tried = 0, alike = 0 WHERE number = ?`
	sqlLetterTaken   = `UPDATE dead_letters SET alike = alike + (tried = ?1), taken = taken + (at = ?1) WHERE number = ?2`
	sqlRemoveLetter  = `DELETE FROM dead_letters WHERE number = ?`
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
	// The batches of the same records that are others, by the timestamp tried and by At: those
	// that the side had before it was tried, and those that were other dead letters.
	alike, taken int
	row          row
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

// explain changes why a dead letter is refused, and forgets the try if that was for certain. Else
// what the side records by the same timestamp later could be taken for this one.
func (o *outbox) explain(number int64, reason string, certain bool) error {
	query := sqlLetterReason
	if certain {
		query = sqlLetterRefused
	}
	return o.do(uuid.Nil, func(t tx) error {
		_, err := t.Exec(query, reason, number)
		return err
	})
}

// lettersLike returns the other dead letters of the same organization, side and records, that the
// side may have by this timestamp.
func (o *outbox) lettersLike(ctx context.Context, letter DeadLetter, batch inventory.Batch,
	at time.Time) ([]DeadLetter, error) {
	refused, by := int64(names(0).with(letter.side)), at.UnixMicro()
	others, err := list(ctx, o, scanLetter, sqlLettersBy, letter.Org.String(), refused, letter.Number, by, by)
	return slices.DeleteFunc(others, func(other DeadLetter) bool {
		same, err := other.row.batch(o.codec)
		return err != nil || !slices.EqualFunc(same.Resources, batch.Resources, equal)
	}), err
}

// trying notes the timestamp that a dead letter is about to be sent with, and how many batches
// like it the side has by that.
func (o *outbox) trying(number int64, at time.Time, alike int) error {
	return o.do(uuid.Nil, func(t tx) error {
		_, err := t.Exec(sqlLetterTried, at.UnixMicro(), alike, number)
		return err
	})
}

// removeLetter removes a dead letter that the side has by this timestamp. What the side has of it
// must not be taken for one of the others, which are like it.
func (o *outbox) removeLetter(number int64, at time.Time, others []DeadLetter) error {
	return o.do(uuid.Nil, func(t tx) error {
		for _, other := range others {
			if _, err := t.Exec(sqlLetterTaken, at.UnixMicro(), other.Number); err != nil {
				return err
			}
		}
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
	err := from.Scan(&l.Number, &org, &r.id, &digest, &l.Request, &at, &since, &l.Records, &refused, &l.Reason, &tried,
		&l.alike, &l.taken, &l.Bytes, &r.body)
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
