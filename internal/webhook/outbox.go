package webhook

import (
	"context"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// Outbox keeps the notices that wait, and how far the audit log was read for them. Since an event
// is recorded with the change that it tells of, and the position moves with the notices that came
// of it, nothing is lost between the two, whenever the process dies: an event above the position is
// read again, and a notice that is kept is tried again.
type Outbox interface {
	// Load returns the position and the notices that wait, by their Sequence. known is false for an
	// outbox that has no position yet. A notice that can't be read is reported and passed over.
	Load(ctx context.Context) (position uint64, known bool, waiting []audit.Event, err error)
	// Keep records notices and the position, which may go back, in one transaction. It returns once
	// they are durable. A notice that is there already stays once.
	Keep(ctx context.Context, position uint64, notices []audit.Event) error
	// Remove takes a notice out that was delivered, or given up. One that is gone is fine.
	Remove(ctx context.Context, notice audit.Event) error
	// Shred destroys at most limit of the notices of an organization, and returns how many went.
	// When that is 0 there are none any more, nor is anything of them left in the outbox's files,
	// also of those that were removed before. The position stays: it is nobody's.
	Shred(ctx context.Context, org uuid.UUID, limit int) (removed int, err error)
}

// memoryOutbox is for a server that keeps its audit log in memory too.
type memoryOutbox struct {
	mu       sync.Mutex
	position uint64
	known    bool
	waiting  []audit.Event
}

// NewMemoryOutbox returns an Outbox that is gone with its process.
func NewMemoryOutbox() Outbox { return &memoryOutbox{} }

func (o *memoryOutbox) Load(context.Context) (uint64, bool, []audit.Event, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.position, o.known, slices.Clone(o.waiting), nil
}

func (o *memoryOutbox) Keep(_ context.Context, position uint64, notices []audit.Event) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.position, o.known = position, true
	for _, n := range notices {
		if !slices.ContainsFunc(o.waiting, same(n)) {
			o.waiting = append(o.waiting, n)
		}
	}
	return nil
}

func (o *memoryOutbox) Remove(_ context.Context, notice audit.Event) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = slices.DeleteFunc(o.waiting, same(notice))
	return nil
}

func (o *memoryOutbox) Shred(_ context.Context, org uuid.UUID, limit int) (removed int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = slices.DeleteFunc(o.waiting, func(n audit.Event) bool {
		if n.Org != org || removed == limit {
			return false
		}
		removed++
		return true
	})
	return removed, nil
}

// same finds a notice of the same event.
func same(n audit.Event) func(audit.Event) bool {
	return func(other audit.Event) bool { return other.Sequence == n.Sequence }
}
