package quota

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// Room is what one change of one source may take. A nil Room has no end. It is for one
// change at a time.
type Room struct {
	keeper *Keeper
	ctx    context.Context // of the change, for the log
	org    uuid.UUID
	size   int64
	limit  limit
	place  place
	beside int64 // what the organization has in other sources

	// What the store asked last: only that counts, as it may have asked before in vain.
	has     int64
	refused error
	spared  bool
}

// Ask returns the room for a change that stores at most size bytes for an organization.
// Close must follow.
func (k *Keeper) Ask(ctx context.Context, org uuid.UUID, kind Kind, size int64) *Room {
	if k == nil {
		return nil
	}
	r := &Room{keeper: k, ctx: ctx, org: org, size: size, place: k.place()}
	r.limit = k.limit(org, r.place)
	if k.source(kind).Elsewhere {
		r.place = place{}
		if r.limit.moves {
			r.limit = limit{bytes: Unlimited}
		}
	}
	r.beside = k.beside(ctx, org, kind, r.limit)
	k.disk.hold(twice * size)
	return r
}

// Allow is for the store to ask, in its transaction: with what it has of the organization,
// and how much the change adds to that. Faults: QuotaExceeded, StoreFull.
func (r *Room) Allow(used, adds int64) error { return r.allow(used, adds, false) }

// AllowHolder is Allow for a change by who holds the lock of the state that is changed.
func (r *Room) AllowHolder(used, adds int64) error { return r.allow(used, adds, true) }

func (r *Room) allow(used, adds int64, holder bool) error {
	if r == nil {
		return nil
	}
	a := account{used: used + r.beside, adds: adds, limit: r.limit, place: r.place}
	r.has, r.refused, r.spared = a.used+a.adds, a.refusal(), false
	switch {
	case r.refused == nil:
		r.keeper.lent.settle(r.org)
	case holder:
		r.refused, r.spared = a.refusalOfHolder(r.keeper.lent.since(r.org, a), r.keeper.overdraft(r.limit)), true
	}
	return r.refused
}

// overdraft is what the holders of locks may store beyond a limit, together.
func (k *Keeper) overdraft(l limit) int64 {
	if l.moves || l.bytes == Unlimited {
		return k.o.Overdraft
	}
	return max(k.o.Overdraft, l.bytes/tenth)
}

// Close gives back what is not taken, with what became of the change.
func (r *Room) Close(err error) {
	if r == nil {
		return
	}
	k := r.keeper
	stored := err == nil && r.has > 0 // a replay stores nothing
	k.disk.release(twice*r.size, stored)
	switch {
	case fault.Is(r.refused, fault.QuotaExceeded):
		k.refused[Quota].Add(1)
	case r.refused != nil:
		k.refused[Reserve].Add(1)
	case stored && r.spared:
		k.spared.Add(1)
	}
	if stored {
		k.watch(r.ctx, r.org, r.has, r.limit)
	}
	k.watchDisk(r.ctx, r.place)
}
