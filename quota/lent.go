package quota

import (
	"sync"

	"github.com/google/uuid"
)

// lent remembers what organizations had when their lock holders were first let beyond what
// everybody may have, until there is room for everybody again. It has an entry for each
// organization that is beyond now, and forgets them when the process ends: then holders may
// go on by as much once more.
type lent struct {
	mu   sync.Mutex
	from map[uuid.UUID]int64
}

func newLent() lent { return lent{from: map[uuid.UUID]int64{}} }

// since is where an organization's overdraft began: at a fixed limit, or with what it had
// when the reserve, or a limit that moved below that, was in its way first.
func (l *lent) since(org uuid.UUID, a account) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	from, known := l.from[org]
	if !known {
		from = a.used
		if a.exceeds() && !a.limit.moves {
			from = max(a.used, a.limit.bytes)
		}
	}
	l.from[org] = from
	return from
}

// settle ends an organization's overdraft.
func (l *lent) settle(org uuid.UUID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.from, org)
}
