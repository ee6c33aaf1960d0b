package dual

import (
	"sync/atomic"

	"github.com/holdfast/holdfast/fault"
)

// tally counts batches, and the bytes and records that they have.
type tally struct{ batches, bytes, records int64 }

func (t *tally) add(d debt, sign int64) {
	t.batches += sign
	t.bytes += sign * d.size
	t.records += sign * int64(d.records)
}

// hold counts what the outbox keeps of an organization for a side: into what is owed, or
// into the dead letters.
func (s *Store) hold(l *lane, total *atomic.Int64, of *[2]tally, n name, d debt, sign int64) (left int64) {
	l.mu.Lock()
	of[n].add(d, sign)
	l.mu.Unlock()
	s.heldBytes.Add(sign * d.size)
	return total.Add(sign)
}

// inter counts a dead letter, exhume takes it back.
func (s *Store) inter(l *lane, n name, d debt)  { s.hold(l, &s.sides[n].dead, &l.dead, n, d, 1) }
func (s *Store) exhume(l *lane, n name, d debt) { s.hold(l, &s.sides[n].dead, &l.dead, n, d, -1) }

// held is how many bytes the outbox keeps of the organization.
func (l *lane) held() (bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := range l.owed {
		bytes += l.owed[n].bytes + l.dead[n].bytes
	}
	return bytes
}

// room refuses a batch that would have to be kept for a side, when the outbox keeps as much
// of the organization as it may.
//
// That is as much as is still free: one organization alone gets half of the outbox, two get
// a third each, and so on. So however many are behind, there is room left for another one.
func (s *Store) room(l *lane, to names, size int64) error {
	held := l.held()
	if held == 0 && to == both {
		return nil
	}
	if held+size <= s.o.MaxBacklogBytes-s.heldBytes.Load() {
		return nil
	}
	err := fault.New(fault.BacklogFull, "%s, and as much of this organization's uploads as may be is kept for it already",
		s.whyHeld(l))
	err.RetryAfter = lastWait
	return err
}

// whyHeld says which side the outbox keeps an organization's batches for.
func (s *Store) whyHeld(l *lane) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range s.sides {
		if l.dead[d.name].bytes > l.owed[d.name].bytes {
			return d.name.String() + " refuses uploads for good"
		}
		if l.owed[d.name].batches > 0 {
			return d.name.String() + " is behind"
		}
	}
	return "one side of the store is away"
}
