package state

import (
	"iter"
	"time"
)

// PruneReach is behind how many versions of the future one is looked for whose time tells
// whether they are old. It bounds what a Prune reads that finds nothing to remove.
const PruneReach = 100

// Aged is what counts of a version when it is to be pruned.
type Aged struct {
	Number    uint64
	CreatedAt time.Time
	Newest    bool
}

// Count returns how many of a state's versions go. They come the oldest first, and no more
// of them are asked for than needed. A version is passed over only when its time is certainly
// wrong, so that one whose time is too early takes none along that was written lately.
func (p Pruning) Count(versions iter.Seq[Aged]) (n int) {
	seen := 0
	for v := range versions {
		if v.Number < p.Below || v.CreatedAt.Before(p.Before) {
			n = seen // all before it
			if !v.Newest {
				n++
			}
		} else if !p.ahead(v.CreatedAt) {
			break
		}
		if seen++; v.Newest || n >= p.Limit || seen > n+PruneReach {
			break
		}
	}
	return min(n, p.Limit)
}

// ahead reports whether nothing can have been written at that time yet.
func (p Pruning) ahead(t time.Time) bool { return !p.Now.IsZero() && t.After(p.Now) }
