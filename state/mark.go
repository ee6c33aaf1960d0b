package state

import "context"

// Marker is a Store that several processes may change, and that says cheaply whether what one of
// them knows of a state is what the state is by now.
type Marker interface {
	// Marks returns the mark of each of these states, in their order, by one look at the store;
	// the zero Mark of a state that was never written or locked. It sees every Update that
	// returned before it was called, in whatever process. Heads and snapshots that were read
	// together with a mark, or after it, are current for as long as the mark is the same.
	Marks(ctx context.Context, refs []Ref) ([]Mark, error)
}

// Mark tells a state as it is from what it was before and will be.
type Mark struct {
	// State tells it from another one that had its name before; never zero.
	State int64
	// Revision grows with each change of what Head returns, and of Current.
	Revision uint64
	// Version is the newest ever written, with its Digest. For as long as these two and Deleted
	// and Purged are the same, so is what Current returns.
	Version         uint64
	Digest          Digest
	Deleted, Purged bool
}
