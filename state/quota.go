package state

import (
	"context"

	"github.com/holdfast/holdfast/quota"
)

// WithQuota has the service store only what keeper has room for, and returns it. Without it
// there is no bound.
func (s *Service) WithQuota(keeper *quota.Keeper) *Service {
	s.store = bounded{s.store, keeper}
	return s
}

// bounded is a Store whose changes are asked about their organization's quota: all of them
// in this one place, so that no operation can forget it. What stores nothing passes: UNLOCK,
// deletions, purges and all that makes room.
type bounded struct {
	Store
	keeper *quota.Keeper
}

// Update implements Store.
func (b bounded) Update(ctx context.Context, ref Ref, body []byte, decide Decide) (Head, error) {
	room := b.keeper.Ask(ctx, ref.Org, quota.States)
	head, err := b.Store.Update(ctx, ref, body, func(h Head) (Change, error) {
		change, err := decide(h)
		change.Allow = room.Allow
		if byHolder(h, change) {
			change.Allow = room.AllowHolder
		}
		return change, err
	})
	room.Close(err)
	return head, err
}

// Cached implements Cache, where the store does.
func (b bounded) Cached(ctx context.Context, ref Ref, number uint64) (Snapshot, bool, error) {
	if cache, ok := b.Store.(Cache); ok {
		return cache.Cached(ctx, ref, number)
	}
	return Snapshot{}, false, nil
}

// Lent implements Lender, where the store does.
func (b bounded) Lent(ref Ref) (Snapshot, bool) {
	if lender, ok := b.Store.(Lender); ok {
		return lender.Lent(ref)
	}
	return Snapshot{}, false
}

// Packed implements Packer, where the store does.
func (b bounded) Packed(ref Ref, of Snapshot) []byte {
	if packer, ok := b.Store.(Packer); ok {
		return packer.Packed(ref, of)
	}
	return nil
}

// byHolder reports whether a change comes from the holder of the state's lock: while it is
// held, nobody else may write. A candidate may be brought by anybody, but is held back from
// who wrote; a fenced one comes from the holder if it is of the run that took the lock.
func byHolder(h Head, c Change) bool {
	switch {
	case h.Lock == nil:
		return false
	case c.Candidate == nil:
		return c.Version != nil
	}
	return c.Candidate.Source == Held || c.Candidate.Source == Fenced && c.Candidate.Author.KeyID == h.Lock.KeyID
}
