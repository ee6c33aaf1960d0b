package dual

import (
	"context"
	"iter"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// Append implements inventory.Store. Once the batch is in the outbox, the end of ctx no
// longer matters.
func (s *Store) Append(ctx context.Context, batch inventory.Batch) (inventory.Receipt, error) {
	if err := s.enter(); err != nil {
		return inventory.Receipt{}, err
	}
	defer s.leave()
	l := s.lane(batch.Org)
	if err := l.take(ctx); err != nil {
		return inventory.Receipt{}, err
	}
	defer l.give()
	if receipt, found, err := s.known(ctx, l, batch); found || err != nil {
		return receipt, err
	}
	if receipt, found, err := s.again(ctx, batch); found || err != nil {
		return receipt, err
	}
	if err := s.seed(ctx, l); err != nil {
		return inventory.Receipt{}, err
	}
	if batch.At.IsZero() {
		batch.At = s.stamp(l)
	}
	batch.At = batch.At.UTC().Truncate(time.Microsecond)
	if batch.At.Before(l.last) {
		return s.ask(ctx, l, batch)
	}
	return s.record(l, batch)
}

// known answers a batch that is still owed to a side.
func (s *Store) known(ctx context.Context, l *lane, batch inventory.Batch) (inventory.Receipt, bool, error) {
	if !l.owes(csv) && !l.owes(mysql) {
		return inventory.Receipt{}, false, nil
	}
	r, found, err := s.outbox.find(ctx, batch.Org, batch.ID)
	if err != nil || !found {
		return inventory.Receipt{}, false, err
	}
	if r.undecided() {
		l.nudge()
	}
	if r.digest != batch.Digest { // a side may have another one by the ID
		receipt, known, err := s.askWhoRemembers(ctx, batch)
		if known && err == nil || r.undecided() && err != nil {
			return receipt, known, err
		}
	}
	if r.undecided() {
		return inventory.Receipt{}, false, errBothDown(nil)
	}
	receipt, err := r.remembered().Again(batch)
	return receipt, true, err
}

// record brings a batch into the outbox and to the sides.
func (s *Store) record(l *lane, batch inventory.Batch) (inventory.Receipt, error) {
	to := s.route(l)
	if to == 0 {
		l.nudge()
		return inventory.Receipt{}, errBothDown(nil)
	}
	r, err := newRow(s.outbox.codec, batch, s.o.Now())
	if err != nil {
		return inventory.Receipt{}, err
	}
	if err := s.room(l, to, r.size); err != nil {
		return inventory.Receipt{}, err
	}
	if batch, err = s.allow(l, batch); err != nil {
		return inventory.Receipt{}, err
	}
	rows := []row{r}
	if err := s.outbox.put(rows...); err != nil {
		return inventory.Receipt{}, err
	}
	return s.conclude(l, rows[0], s.sendAll(to, []inventory.Batch{batch})[0])
}

// route returns the sides to send to now. One that is owed something has to wait for
// that; one that is slow to fail is left to the replays, unless there is no other.
func (s *Store) route(l *lane) names {
	var working, owedNothing names
	for _, d := range s.sides {
		if l.owes(d.name) {
			continue
		}
		owedNothing = owedNothing.with(d.name)
		if !d.isSlow() {
			working = working.with(d.name)
		}
	}
	if working == 0 {
		return owedNothing
	}
	return working
}

// Records implements inventory.Store. It reads what CSV has.
func (s *Store) Records(ctx context.Context, org uuid.UUID,
	query inventory.Query) iter.Seq2[inventory.Positioned, error] {
	return s.sides[csv].store.Records(ctx, org, query)
}

// Summary implements inventory.Store. It reads what CSV has.
func (s *Store) Summary(ctx context.Context, org uuid.UUID) ([]inventory.Group, error) {
	return s.sides[csv].store.Summary(ctx, org)
}

// Organizations implements inventory.Store. It reads what CSV has.
func (s *Store) Organizations(ctx context.Context) iter.Seq2[uuid.UUID, error] {
	return s.sides[csv].store.Organizations(ctx)
}
