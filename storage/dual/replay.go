package dual

import (
	"sync"
	"time"

	"github.com/holdfast/holdfast/fault"
)

// The waits between two replays for an organization on a side that fails.
const (
	firstWait = 100 * time.Millisecond
	lastWait  = 30 * time.Second
)

// replay sees to it that somebody sends a side what it has missed of an organization, if anything. Who waits for
// tries, if anybody, waits until all of it was taken, or something was not.
func (s *Store) replay(d *side, l *lane, tries *sync.WaitGroup) {
	if !l.begin(d.name) {
		return
	}
	tried := func() {}
	if tries != nil {
		tries.Add(1)
		tried = sync.OnceFunc(tries.Done)
	}
	s.replays.Go(func() {
		defer tried()
		wait := firstWait
		for {
			recovered := d.recovered() // taken before the call, so as not to miss it
			next, ok := l.next(d.name, s.stop)
			if !ok {
				return
			}
			err := s.replayOne(d, l, next)
			if err == nil {
				wait = firstWait
				continue
			}
			if (outcome{sent: true, err: err}).kind() != unknown && (wait == firstWait || wait == lastWait) {
				s.o.Log.Error("a side of the store does not take an organization's uploads; they are kept for it",
					"side", d.label, "org", l.org, "error", err)
			}
			tried()
			select {
			case <-s.stop.Done():
			case <-recovered:
			case <-l.nudges[d.name]:
			case <-s.o.After(wait):
				wait = min(2*wait, lastWait)
			}
		}
	})
}

// replayOne sends what is owed first, and takes it off when the side has it or will never take it.
func (s *Store) replayOne(d *side, l *lane, next debt) error {
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-s.stop.Done():
		return s.stop.Err()
	}
	r, err := s.outbox.load(s.stop, next.seq)
	if err != nil {
		return err
	}
	if !r.owes.has(d.name) { // it was shredded
		s.cancel(d, l, next)
		return nil
	}
	has := names(0).with(d.name)
	batch, err := r.batch(s.outbox.codec)
	if err == nil {
		o := s.send(s.stop, d, batch)[0]
		switch o.kind() {
		case rejected, unknown:
			return o.err
		case recorded:
			if o.receipt.Replayed && !o.receipt.At.Equal(r.at) { // sent again when both had it: it is no batch of this time
				s.outbox.settle(r.seq, both, both)
				s.cancel(s.sides[1-d.name], l, next)
			}
			s.outbox.settle(r.seq, has, has)
			s.cancel(d, l, next)
			return nil
		}
		err = o.err
	}
	s.o.Log.Error("a side of the store refuses an upload for good, and will lack it", "side", d.label,
		"org", l.org, "batch", r.id, "request", r.request, "at", r.at, "records", r.count, "reason", fault.From(err).Message,
		"error", err)
	d.refused.Add(1)
	s.outbox.settle(r.seq, has, 0)
	s.cancel(d, l, next)
	return nil
}
