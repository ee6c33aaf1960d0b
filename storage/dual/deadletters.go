package dual

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// DeadLetters returns the batches that one side refuses for good, the oldest first.
func (s *Store) DeadLetters(ctx context.Context) ([]DeadLetter, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	return s.outbox.letters(ctx)
}

// DeadLetter returns one of them with its records, as the side that took it has them.
func (s *Store) DeadLetter(ctx context.Context, number int64) (DeadLetter, []inventory.Record, error) {
	if err := s.enter(); err != nil {
		return DeadLetter{}, nil, err
	}
	defer s.leave()
	letter, err := s.outbox.letter(ctx, number)
	if err != nil {
		return DeadLetter{}, nil, err
	}
	batch, err := letter.row.batch(s.outbox.codec)
	if err != nil {
		return letter, nil, err
	}
	var records []inventory.Record
	for _, r := range batch.Resources {
		records = append(records, inventory.Record{Timestamp: letter.At, Org: letter.Org, Resource: r})
	}
	return letter, records, nil
}

// RetryDeadLetter sends a dead letter to the side that refused it. If that side takes it
// now, or turns out to have it, it is no dead letter any more.
//
// The side appends only, and may have taken later batches meanwhile. Then the records come
// behind those, with the timestamp of the side's newest record: the receipt has it.
func (s *Store) RetryDeadLetter(ctx context.Context, number int64) (inventory.Receipt, error) {
	if err := s.enter(); err != nil {
		return inventory.Receipt{}, err
	}
	defer s.leave()
	letter, l, err := s.takeLetter(ctx, number)
	if err != nil {
		return inventory.Receipt{}, err
	}
	defer l.give()
	batch, err := letter.row.batch(s.outbox.codec)
	if err != nil {
		return inventory.Receipt{}, err
	}
	receipt, there, err := s.arrived(ctx, letter, batch)
	if err == nil && !there {
		receipt, err = s.resend(ctx, l, letter, batch)
	}
	if err != nil {
		return inventory.Receipt{}, err
	}
	return receipt, s.removeLetter(ctx, l, letter, batch, receipt.At)
}

// arrived looks whether the side has a dead letter after all: it may have recorded it and not
// said so, before it refused it or when it was last tried, and have forgotten its ID since.
func (s *Store) arrived(ctx context.Context, letter DeadLetter,
	batch inventory.Batch) (inventory.Receipt, bool, error) {
	earlier := []struct {
		at    time.Time
		alike int
	}{{letter.At, letter.taken}, {letter.tried, letter.alike}}
	for _, try := range earlier {
		if try.at.IsZero() {
			continue
		}
		batch.At = try.at
		alike, err := s.alike(ctx, s.sides[letter.side], batch)
		if err != nil {
			return inventory.Receipt{}, false, err
		}
		others := 0
		if alike > try.alike {
			others, err = s.othersRecorded(ctx, letter, batch)
		}
		if err != nil {
			return inventory.Receipt{}, false, err
		}
		if alike > try.alike+others {
			return inventory.Receipt{Request: letter.Request, At: try.at, Count: letter.Records, Replayed: true}, true, nil
		}
	}
	return inventory.Receipt{}, false, nil
}

// othersRecorded counts the dead letters like this one that the side knows by their IDs and has by
// the batch's timestamp: it was never told that, and what it has of them is not this one.
func (s *Store) othersRecorded(ctx context.Context, letter DeadLetter, batch inventory.Batch) (n int, err error) {
	others, err := s.outbox.lettersLike(ctx, letter, batch, batch.At)
	if err != nil {
		return 0, err
	}
	for _, other := range others {
		asked := inventory.Batch{Org: other.Org, ID: other.row.id, Digest: other.row.digest}
		found, ok, err := s.rememberedAs(ctx, s.sides[letter.side], asked)
		if err != nil {
			return 0, err
		}
		if ok && found.Digest == asked.Digest && found.Receipt.At.Equal(batch.At) {
			n++
		}
	}
	return n, nil
}

// resend sends a dead letter, after the outbox has what arrived goes by. No upload gets the same
// timestamp later.
func (s *Store) resend(ctx context.Context, l *lane, letter DeadLetter,
	batch inventory.Batch) (inventory.Receipt, error) {
	d := s.sides[letter.side]
	newest, err := s.newest(ctx, d, letter.Org)
	if err != nil {
		return inventory.Receipt{}, err
	}
	batch.At = later(batch.At, newest)
	l.last = later(l.last, batch.At)
	alike, err := s.alike(ctx, d, batch)
	if err != nil {
		return inventory.Receipt{}, err
	}
	if err := s.outbox.trying(letter.Number, batch.At, alike); err != nil {
		return inventory.Receipt{}, err
	}
	o := s.send(ctx, d, batch)[0]
	if fault.Is(o.err, fault.IdempotencyMismatch) {
		batch.ID = substitute(batch)
		o = s.send(ctx, d, batch)[0]
	}
	if o.err != nil {
		return inventory.Receipt{}, errors.Join(o.err, s.outbox.explain(letter.Number, reasonOf(o.err), o.kind() != unknown))
	}
	return o.receipt, nil
}

// DiscardDeadLetter gives a dead letter up: one side will lack its records for good.
func (s *Store) DiscardDeadLetter(ctx context.Context, number int64) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	letter, l, err := s.takeLetter(ctx, number)
	if err != nil {
		return err
	}
	defer l.give()
	if err := s.outbox.discardLetter(letter); err != nil {
		return err
	}
	l.discard(letter.side, int64(letter.Records))
	s.exhume(l, letter.side, letter.row.debt())
	return nil
}

// takeLetter waits for the organization's turn, which the caller must give back: an upload
// must not come between looking for a side's newest record and appending to it.
func (s *Store) takeLetter(ctx context.Context, number int64) (DeadLetter, *lane, error) {
	letter, err := s.outbox.letter(ctx, number)
	if err != nil {
		return letter, nil, err
	}
	l := s.lane(letter.Org)
	if err := l.take(ctx); err != nil {
		return letter, nil, err
	}
	if letter, err = s.outbox.letter(ctx, number); err != nil { // again, in turn
		l.give()
		return letter, nil, err
	}
	return letter, l, nil
}

// removeLetter removes a dead letter that the side has by this timestamp.
func (s *Store) removeLetter(ctx context.Context, l *lane, letter DeadLetter, batch inventory.Batch,
	at time.Time) error {
	others, err := s.outbox.lettersLike(context.WithoutCancel(ctx), letter, batch, at)
	if err != nil {
		return err
	}
	if err := s.outbox.removeLetter(letter.Number, at, others); err != nil {
		return err
	}
	s.exhume(l, letter.side, letter.row.debt())
	return nil
}

// reasonOf is what an operator is told of a refusal. It has no more than a caller may know:
// what lies beneath may quote what was uploaded.
func reasonOf(err error) string {
	f := fault.From(err)
	return string(f.Code) + ": " + f.Message
}
