package dual

import (
	"context"
	"errors"

	"github.com/holdfast/holdfast/fault"
)

// refusal is a batch that a side did not take, for a reason that may be the organization's.
type refusal struct {
	seq  int64
	turn int64 // when that was first, in the order of what the side records
}

// refusedForGood reports whether a side will never take a batch. That is so at once for
// what it has against the batch itself. What it has against the whole organization, an
// edited file say, or what nobody has foreseen, an operator may mend: until Patience is
// over, order and timestamps are worth waiting for.
//
// Nor is it the batch's fault when the side takes nothing of anybody, because its database
// is being restored, say, and that may last longer than Patience. So the side must have
// recorded something of another organization since it first refused the batch, and before
// this try: others is when it last had.
func (p *payer) refusedForGood(r row, err error, others int64) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if (outcome{err: err}).kind() == refused {
		return true
	}
	code := fault.From(err).Code
	if code != fault.StoreCorrupt && code != fault.InternalError {
		return false
	}
	if p.first.seq != r.seq {
		turn, _ := p.d.turns(p.l.org)
		p.first = refusal{r.seq, turn}
	}
	return others > p.first.turn && p.s.o.Now().Sub(r.since) > p.s.o.Patience
}

// writeOff takes off the debt of a batch that the side will never take.
func (p *payer) writeOff(r row, reason error) error {
	return p.conclude(r, refusedBy(p.d.name, reason), reason)
}

// decide takes off a debt, after what the side said is durable, and enters the one that
// follows from it.
func (p *payer) decide(r row, answer answered) (fate, row, error) {
	p.l.deciding.Lock()
	defer p.l.deciding.Unlock()
	f, decided, err := p.s.outbox.decide(r, answer, p.s.o.Now())
	if err != nil {
		return f, decided, err
	}
	if f == buried { // before the debt is off: what is kept is counted all the while
		p.s.inter(p.l, p.s.lacking(decided), r.debt())
	}
	for _, d := range p.s.sides {
		switch {
		case decided.owes.has(d.name):
			p.s.owe(d, p.l, r.debt())
			p.s.replay(d, p.l, p.tries) // if Open waits for this one, then for that one too
		case d == p.d:
			p.s.cancel(d, p.l, r.debt())
		}
	}
	return f, decided, nil
}

// conclude has an answer decided, and says what became of the batch.
func (p *payer) conclude(r row, answer answered, reason error) error {
	f, decided, err := p.decide(r, answer)
	if err != nil {
		return err
	}
	log := p.s.o.Log.With("org", p.l.org, "batch", r.id, "request", r.request, "records", r.count)
	switch f {
	case buried:
		log.Error("a side of the store refuses an upload for good that the other one has; it is kept as a dead letter: see "+
			"`holdfast data deadletter list`",
			"side", p.s.lacking(decided).String(), "reason", decided.reason, "error", reason)
	case gone:
		log.Warn("both sides of the store refuse an upload of which nobody was told that it is recorded; it is given up",
			"error", reason)
	case owing:
		if decided.refused.has(p.d.name) {
			log.Warn("a side of the store refuses an upload for good, and the other one has yet to say whether it has it",
				"side", p.d.name.String(), "error", reason)
		}
	}
	return nil
}

// lacking is the side that refuses a batch which the other one has.
func (s *Store) lacking(r row) name {
	if r.refused.has(mysql) {
		return mysql
	}
	return csv
}

// warnOfLetters reminds of dead letters at each start: they stay until somebody decides.
func (s *Store) warnOfLetters(ctx context.Context) {
	for _, d := range s.sides {
		if n := d.dead.Load(); n > 0 {
			s.o.Log.ErrorContext(ctx,
				"a side of the store refuses uploads for good that the other one has: see `holdfast data deadletter list`",
				"side", d.name.String(), "dead_letters", n)
		}
	}
}
