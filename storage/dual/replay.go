package dual

import (
	"sync"
	"time"

	"github.com/holdfast/holdfast/inventory"
)

const (
	// The waits between two replays for an organization on a side that fails.
	firstWait = 100 * time.Millisecond
	lastWait  = 30 * time.Second
	// firstTry is how many batches of an organization a server's Open waits for.
	firstTry = 100
)

// replay sees to it that somebody pays what the organization is owed on this side. Who waits for
// tries, if anybody, waits for the first one of whom it starts.
func (s *Store) replay(d *side, l *lane, tries *sync.WaitGroup) {
	if l.pay(d.name) {
		s.startPaying(d, l, tries)
	}
}

// startPaying starts the one who pays, which lane.pay has to have left to the caller.
func (s *Store) startPaying(d *side, l *lane, tries *sync.WaitGroup) {
	if tries != nil {
		tries.Add(1)
	}
	s.replays.Go(func() {
		p := &payer{s: s, d: d, l: l, wait: firstWait, tries: tries}
		p.run()
		p.tell()
	})
}

// payer pays one organization's debts on one side.
type payer struct {
	s     *Store
	d     *side
	l     *lane
	wait  time.Duration
	count int
	tries *sync.WaitGroup // of Open, until the first debts are paid or couldn't be
	first refusal         // of the batch that is next
}

// run pays until there is nothing left, or the store closes.
func (p *payer) run() {
	for {
		recovered := p.d.recovered() // taken before the call, so as not to miss it
		next, ok := p.l.first(p.d.name)
		if !ok || p.s.stop.Err() != nil {
			return
		}
		if err := p.payOne(next); err == nil {
			p.wait = firstWait
			if p.count++; p.count == firstTry && p.s.o.Watched {
				p.tell()
			}
			continue
		}
		p.tell()
		select {
		case <-p.s.stop.Done():
		case <-recovered:
		case <-p.l.nudges[p.d.name]:
		case <-p.s.o.After(p.wait):
			p.wait = min(2*p.wait, lastWait)
		}
	}
}

func (p *payer) tell() {
	if p.tries != nil {
		p.tries.Done()
		p.tries = nil
	}
}

// payOne sends the oldest debt, and takes it off when the side has it or will never take it.
func (p *payer) payOne(next debt) error {
	release, err := p.slot()
	if err != nil {
		return err
	}
	defer release()
	r, err := p.s.outbox.load(p.s.stop, next.seq)
	if err != nil {
		return p.failed(r, err)
	}
	if !r.owes.has(p.d.name) {
		return p.drop(next)
	}
	batch, err := r.batch(p.s.outbox.codec)
	if err != nil {
		return p.writeOff(r, err) // nobody can take what can't be read
	}
	_, others := p.d.turns(p.l.org)
	receipt, err := p.deliver(r, batch)
	switch {
	case err == nil:
		return p.paid(r, receipt)
	case p.refusedForGood(r, err, others):
		return p.writeOff(r, err)
	}
	p.complain(r, err)
	return p.failed(r, err)
}

func (p *payer) failed(r row, err error) error {
	p.s.o.Log.Debug("a replay failed", "side", p.d.name.String(), "org", p.l.org, "batch", r.id, "error", err)
	return err
}

// drop takes off a debt that the outbox knows nothing of, after what comes to the queues from an
// answer of the other side: that may be this debt once more.
func (p *payer) drop(next debt) error {
	p.l.deciding.Lock()
	defer p.l.deciding.Unlock()
	r, err := p.s.outbox.load(p.s.stop, next.seq)
	if err == nil && !r.owes.has(p.d.name) {
		p.s.cancel(p.d, p.l, next)
	}
	return err
}

// paid takes off the debt of a batch that the side has.
func (p *payer) paid(r row, receipt inventory.Receipt) error {
	have := names(0).with(p.d.name)
	switch {
	case receipt.Replayed && !receipt.At.Equal(r.at):
		have = both // it was sent again long after both had it; the process died over it
	case r.undecided():
		// The other side may refuse it at this moment: the outbox says who came first.
		return p.conclude(r, recordedBy(p.d.name), nil)
	}
	p.settle(r, have)
	return nil
}

// settle takes off the debts of sides that have a batch, but not while what the other side said
// goes to the queues, or the debt would come back.
func (p *payer) settle(r row, have names) {
	p.l.deciding.Lock()
	defer p.l.deciding.Unlock()
	p.s.outbox.settle(r.seq, have)
	for _, d := range p.s.sides {
		if have.has(d.name) {
			p.s.cancel(d, p.l, r.debt())
		}
	}
}

// slot waits for leave to use the side: a few at a time, one while it is slow to fail.
func (p *payer) slot() (release func(), err error) {
	release, err = p.enter(p.d.slots)
	if err != nil || !p.d.isSlow() {
		return release, err
	}
	release()
	p.tell() // Open need not wait for one after the other
	return p.enter(p.d.probe)
}

func (p *payer) enter(slots chan struct{}) (release func(), err error) {
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-p.s.stop.Done():
		return nil, p.s.stop.Err()
	}
}
