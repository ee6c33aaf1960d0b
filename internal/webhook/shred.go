package webhook

import (
	"context"

	"github.com/google/uuid"
)

// shredding asks Follow to destroy a piece of what waits for an organization.
type shredding struct {
	ctx    context.Context
	org    uuid.UUID
	limit  int
	answer chan shredded // has room for the answer: nobody may be there for it any more
}

type shredded struct {
	removed int
	err     error
}

// Shred destroys what waits for an organization that has no Receiver any more, in the outbox and in
// memory, in pieces of at most limit notices, and returns how many went. A notice that is on its way
// is waited for: when Shred returns 0, nothing waits, nothing is on its way, and nothing is recorded
// any more of what becomes of a notice. Follow does it, between two tries; without it Shred waits
// until ctx ends.
func (f *Notifier) Shred(ctx context.Context, org uuid.UUID, limit int) (removed int, err error) {
	order := &shredding{ctx, org, limit, make(chan shredded, 1)}
	select {
	case f.orders <- order:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	select {
	case done := <-order.answer:
		return done.removed, done.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// shred carries an order out, at once or when the try that is under way has ended.
func (f *Notifier) shred(order *shredding) {
	if l := f.backlog.waitingFor[order.org]; l != nil {
		if l.busy {
			l.shreddings = append(l.shreddings, order)
			return
		}
		f.backlog.drop(l)
		f.count()
	}
	removed, err := f.outbox.Shred(order.ctx, order.org, order.limit)
	order.answer <- shredded{removed, err}
}

// shredNow carries out what has waited for the end of a try.
func (f *Notifier) shredNow(l *pending) {
	orders := l.shreddings
	l.shreddings = nil
	for _, order := range orders {
		f.shred(order)
	}
}
