package sqlite

import (
	"slices"
	"sync"

	"github.com/holdfast/holdfast/audit"
)

// keptEvents is how many of the last events are kept at least, and half of how many at most:
// 1 to 3 MB. Those who follow the log under load are about a second behind.
const keptEvents = 4096

// latest keeps the last events that were committed, for those who follow the log: two of
// them would read each event of each LOCK, POST and UNLOCK from the database, which took 3 %
// of a cycle's CPU. They are the very events that are there, as none is ever
// changed, and where one is missing in between, those before it are forgotten.
type latest struct {
	mu     sync.Mutex
	events []audit.Event
}

// add takes in what a transaction has recorded, once it is durable.
func (l *latest) add(events []audit.Event) {
	if len(events) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.events); n > 0 && l.events[n-1].Sequence+1 != events[0].Sequence {
		l.events = nil // somebody else has written to the log
	}
	l.events = append(l.events, events...)
	if old := len(l.events) - keptEvents; old >= keptEvents {
		l.events = slices.Delete(l.events, 0, old)
	}
}

// forget says that there may be more in the log: of a commit whose end nobody knows.
func (l *latest) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = nil
}

// after returns the events that follow a sequence. Nil says to look in the database.
func (l *latest) after(sequence uint64, limit int) []audit.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	if limit <= 0 || len(l.events) == 0 || sequence+1 < l.events[0].Sequence ||
		sequence >= l.events[len(l.events)-1].Sequence {
		return nil
	}
	from := int(sequence + 1 - l.events[0].Sequence)
	return slices.Clone(l.events[from:min(from+limit, len(l.events))])
}
