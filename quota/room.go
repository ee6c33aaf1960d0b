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
	own    int64 // the organization's quota, as Options.Limit has it
	here   bool  // it fills the disk
	limit  limit
	place  place
	beside int64 // what the organization has in other sources

	// What the store asked last: only that counts, as it may have asked before in vain.
	held    hold // of the disk, for what was granted
	has     int64
	refused error
	spared  bool
}

// Ask returns the room for a change of what a source keeps for an organization. It takes
// nothing before the store asks, so that what is refused is in nobody's way. Close must follow.
func (k *Keeper) Ask(ctx context.Context, org uuid.UUID, kind Kind) *Room {
	if k == nil {
		return nil
	}
	r := &Room{keeper: k, ctx: ctx, org: org, own: k.o.Limit(org), place: k.place()}
	if k.source(kind).Elsewhere {
		r.place = place{}
	}
	r.here = r.place.known
	r.limit = r.place.limit(r.own)
	r.beside = k.beside(ctx, org, kind, r.limit)
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
	r.keeper.disk.claim(&r.held, func(free int64, known bool) int64 {
		if r.here {
			r.place.free, r.place.known = free, known
			r.limit = r.place.limit(r.own)
		}
		if r.decide(used, adds, holder); r.refused != nil || !r.place.known {
			return 0
		}
		return twice * max(adds, 0)
	})
	return r.refused
}

// decide says whether there is room, in the place as it is now.
func (r *Room) decide(used, adds int64, holder bool) {
	a := account{used: used + r.beside, adds: adds, limit: r.limit, place: r.place}
	r.has, r.refused, r.spared = a.used+a.adds, a.refusal(), false
	switch {
	case r.refused == nil:
		r.keeper.lent.settle(r.org)
	case holder:
		r.refused, r.spared = a.refusalOfHolder(r.keeper.lent.since(r.org, a), r.keeper.overdraft(r.limit)), true
	}
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
	k.disk.release(&r.held, stored)
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
