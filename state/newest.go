package state

import (
	"context"
	"time"
)

// Newest is a Store that other processes write to as well, and that can be asked cheaply whether
// what somebody has in memory is still what Current returns.
type Newest interface {
	// Newest says of each of refs what Current would return now, in their order. It sees every
	// Update, Purge, Expunge and Shred, through whichever process, that returned before it was
	// called. It is one look-up by key for all of them, of heads alone: its cost grows with
	// their number, never with the bytes of a state. There are at most MostNewest, of any
	// organizations, and one may be there twice.
	Newest(ctx context.Context, refs []Ref) ([]Tip, error)
}

// MostNewest is how many states Newest is asked about at once.
const MostNewest = 256

// Tip tells the version that Current returns from all others that there ever were under that
// name: also from one of the same number in a state that was expunged, and from one that was
// purged since. The zero Tip stands for none: Current has an error for such a state, that it does
// not exist or was purged.
type Tip struct {
	Number    uint64
	Digest    Digest
	CreatedAt time.Time // as it is stored: UTC, microseconds
}

// Tip returns what tells this version from others.
func (v Version) Tip() Tip {
	return Tip{Number: v.Number, Digest: v.Digest, CreatedAt: storedTime(v.CreatedAt)}
}

// Is reports whether it is the same version.
func (t Tip) Is(other Tip) bool {
	return t.Number == other.Number && t.Digest == other.Digest && t.CreatedAt.Equal(other.CreatedAt)
}
