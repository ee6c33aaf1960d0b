package dual

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// retryAfter is what callers are told to wait when both sides are away.
const retryAfter = 2 * time.Second

// outcomes are the answers of the sides that were sent a batch.
type outcomes map[name]outcome

// sendAll sends batches to the sides at once, and returns what became of each.
func (s *Store) sendAll(to names, batches []inventory.Batch) []outcomes {
	var answers [2][]outcome
	var wg sync.WaitGroup
	for _, d := range s.sides {
		if to.has(d.name) {
			// Whoever waits for this has what it needs: a caller that leaves changes nothing.
			wg.Go(func() { answers[d.name] = s.send(context.Background(), d, batches...) })
		}
	}
	wg.Wait()
	all := make([]outcomes, len(batches))
	for i := range batches {
		all[i] = outcomes{}
		for _, d := range s.sides {
			if to.has(d.name) {
				all[i][d.name] = answers[d.name][i]
			}
		}
	}
	return all
}

// receipt returns CSV's, or MySQL's if it alone has recorded the batch; that of one who
// recorded it before goes first.
func (all outcomes) receipt() (found inventory.Receipt, ok bool) {
	for _, n := range []name{csv, mysql} {
		o, sent := all[n]
		if sent && o.kind() == recorded && (!ok || o.receipt.Replayed && !found.Replayed) {
			found, ok = o.receipt, true
		}
	}
	return found, ok
}

// disagree reports whether one side recorded what the other had recorded before.
func (all outcomes) disagree() bool {
	before, anew := false, false
	for _, o := range all {
		if o.kind() == recorded {
			before, anew = before || o.receipt.Replayed, anew || !o.receipt.Replayed
		}
	}
	return before && anew
}

// of returns the sides whose outcome is of this kind.
func (all outcomes) of(k kind) names {
	var found names
	for n, o := range all {
		if o.kind() == k {
			found = found.with(n)
		}
	}
	return found
}

// failure is the answer when no side has recorded the batch.
func (all outcomes) failure() error {
	var causes []error
	full := 0
	for _, n := range []name{csv, mysql} {
		o, ok := all[n]
		if !ok {
			continue
		}
		if o.kind() == refused {
			return o.err
		}
		if fault.Is(o.err, fault.StoreFull) {
			full++
		}
		causes = append(causes, o.err)
	}
	if full == 2 {
		return fault.Wrap(errors.Join(causes...), fault.StoreFull, "both sides of the store are full")
	}
	return errBothDown(errors.Join(causes...))
}

// doubt is the answer when no side says that it has recorded the batch. If one of them may have,
// it is not the refusal of the other one. That goes for an ID that the other one knows for
// another batch too: IDs are forgotten, and a side may have been restored from a backup.
func (all outcomes) doubt() error {
	if all.of(refused) == 0 || all.of(unknown) == 0 {
		return all.failure()
	}
	return errDoubt(all.failure())
}

func errDoubt(cause error) error {
	err := fault.Wrap(cause, fault.StoreUnavailable,
		"one side of the store refuses the upload, and the other one does not say whether it has recorded it; try again")
	err.RetryAfter = retryAfter
	return err
}

func errBothDown(cause error) error {
	err := fault.Wrap(cause, fault.StoreUnavailable, "both sides of the store are away; try again")
	err.RetryAfter = retryAfter
	return err
}

// conclude turns what the sides said into the answer, and into debts.
func (s *Store) conclude(l *lane, r row, all outcomes) (inventory.Receipt, error) {
	if receipt, ok := all.receipt(); ok {
		if receipt.Replayed {
			// Recorded before, and not owed to anybody: both have it.
			if all.disagree() {
				s.o.Log.Error("one side of the store knew an upload and the other did not: it recorded it anew",
					"org", r.org, "batch", r.id, "request", receipt.Request)
			}
			s.outbox.settle(r.seq, both)
			return receipt, nil
		}
		done := all.of(recorded)
		l.last = later(l.last, r.at)
		s.outbox.settle(r.seq, done)
		s.lend(l, r, both.without(done), all)
		return receipt, nil
	}
	if all.of(unknown) != 0 {
		// A side may have it, so both shall. If the other one refuses it for good, it will say
		// so again when its debt is paid, and be written off then.
		l.last = later(l.last, r.at)
		s.lend(l, r, both, all)
		return inventory.Receipt{}, all.doubt()
	}
	// Removed before the answer: after a crash it would be sent again.
	if err := s.outbox.drop(r); err != nil {
		l.last = later(l.last, r.at)
		s.lend(l, r, both, all)
		return inventory.Receipt{}, errors.Join(errBothDown(err), all.failure())
	}
	return inventory.Receipt{}, all.failure()
}

// owe enters a debt, unless it is there.
func (s *Store) owe(d *side, l *lane, owed debt) (first bool) {
	return l.owe(d.name, owed) && s.hold(l, &d.owed, &l.owed, d.name, owed, 1) == 1
}

// cancel strikes out what a side is owed.
func (s *Store) cancel(d *side, l *lane, owed debt) {
	if l.strike(d.name, owed.seq) && s.hold(l, &d.owed, &l.owed, d.name, owed, -1) == 0 {
		s.o.Log.Info("a side of the store has caught up", "side", d.name.String())
	}
}

// lend enters debts and sees to it that they are paid.
func (s *Store) lend(l *lane, r row, to names, all outcomes) {
	for _, d := range s.enterDebts(l, r, to) {
		s.o.Log.Warn("a side of the store fails; what it misses is kept for it", "side", d.name.String(), "org", l.org,
			"error", all[d.name].err)
	}
	for _, d := range s.sides {
		if to.has(d.name) {
			s.replay(d, l, nil)
		}
	}
}

// enterDebts enters all of a batch's debts before an answer comes to any of them, which may take
// off another one. It returns the sides that were owed nothing before.
func (s *Store) enterDebts(l *lane, r row, to names) (first []*side) {
	l.deciding.Lock()
	defer l.deciding.Unlock()
	for _, d := range s.sides {
		if to.has(d.name) && s.owe(d, l, r.debt()) {
			first = append(first, d)
		}
	}
	return first
}
