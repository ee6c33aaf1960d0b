package handlers

import "github.com/holdfast/holdfast/internal/budget"

// usualStream is what every answer of records counts as: a store's buffer, small records,
// and a piece. Most answers never need more, and so ask the budget once.
const (
	usualStream = 512 << 10
	takingStep  = 256 << 10 // more is acquired in such steps
)

// taking is the memory that an answer of records takes. It never counts as less than it did
// before: the store and the sender keep their buffers for the records that follow.
type taking struct {
	hold                  budget.Hold
	fromStore, fromSender int64
}

// store acquires what the store needs. Its error is fault.Overloaded.
func (t *taking) store(n int64) error {
	t.fromStore = max(t.fromStore, n)
	return t.acquire()
}

// piece acquires what the sender's piece needs. Its error is fault.Overloaded.
func (t *taking) piece(n int) error {
	t.fromSender = max(t.fromSender, int64(n))
	return t.acquire()
}

// acquire never waits, since a store would wait with it. What is more than the whole budget
// counts as all of it, but only for a hold that has nothing: so it lets go before it gives up.
func (t *taking) acquire() error {
	all := max(usualStream, t.fromStore+t.fromSender)
	if all <= t.hold.Amount() {
		return nil
	}
	all = (all + takingStep - 1) / takingStep * takingStep
	if t.hold.TryAcquire(all - t.hold.Amount()) {
		return nil
	}
	t.hold.Release()
	return t.hold.AcquireNow(all)
}
