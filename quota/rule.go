package quota

import (
	"math"
	"math/bits"

	"github.com/dustin/go-humanize"

	"github.com/holdfast/holdfast/fault"
)

const (
	// Unlimited is the limit of an organization that has none.
	Unlimited int64 = math.MaxInt64
	// greed is how many times what is free an organization may have. One alone gets 2/3 of
	// what there is, the next one 2/3 of the rest.
	greed = 2
	// tenth of a limit is what the holders of locks may go beyond it.
	tenth = 10
	// twice is how often a body is on the disk for a while: in a store's log, and in its file.
	twice = 2
)

// place is where something is to be stored.
type place struct {
	known         bool // the disk could be measured, and this is on it
	free, reserve int64
}

// scarce reports whether nothing is left that everybody may use.
func (p place) scarce() bool { return p.known && p.reserve > 0 && p.free < p.reserve }

// beyondReserve is what everybody may use of the disk.
func (p place) beyondReserve() int64 { return max(p.free-p.reserve, 0) }

// fair is the limit of an organization that has no other.
func (p place) fair() limit {
	if !p.known {
		return limit{bytes: Unlimited}
	}
	return limit{bytes: greed * p.beyondReserve(), moves: true}
}

// limit is what a quota of Options.Limit comes to in this place.
func (p place) limit(quota int64) limit {
	switch quota {
	case None:
		return limit{bytes: Unlimited}
	case Auto:
		return p.fair()
	default:
		return limit{bytes: quota}
	}
}

// account is all that the rule looks at.
type account struct {
	used, adds int64 // of the organization: what it has, and what it wants to store
	limit      limit
	place      place
}

// limit is how much an organization may have.
type limit struct {
	bytes int64
	// moves says that it follows what is free on the disk.
	moves bool
}

// shown is a limit as far as callers are told: one that moves would show them what others
// store, so it is rounded down to a power of two.
func (l limit) shown() int64 {
	if !l.moves || l.bytes == Unlimited || l.bytes <= 0 {
		return l.bytes
	}
	return 1 << (bits.Len64(uint64(l.bytes)) - 1)
}

// refusal says why nobody may store this who holds no lock; nil when there is room. Without
// a reserve, stores find out themselves when the disk is full.
func (a account) refusal() error {
	switch {
	case a.place.known && a.place.reserve > 0 && a.place.free-twice*a.adds < a.place.reserve:
		return fault.New(fault.StoreFull,
			"the disk has little more than its reserve left, which is for who holds a lock already; nothing was stored, an "+
				"operator must make room")
	case a.exceeds():
		return a.exceeded()
	}
	return nil
}

func (a account) exceeds() bool { return a.limit.bytes != Unlimited && a.used+a.adds > a.limit.bytes }

// refusalOfHolder is refusal for who holds a lock: since is what its organization had when
// it was first found without room, and overdraft how much it may have beyond that.
func (a account) refusalOfHolder(since, overdraft int64) error {
	more := a.used + a.adds - since
	if a.place.known && (twice*a.adds > a.place.free || more > greed*a.place.free) {
		return fault.New(fault.StoreFull,
			"the organization has its share of the disk's reserve already; nothing was stored, an operator must make room")
	}
	if more > overdraft {
		return a.exceeded()
	}
	return nil
}

func (a account) exceeded() error {
	return fault.New(fault.QuotaExceeded,
		"the organization has %s stored, of %s that it may have, and this takes %s; nothing was stored. Purge versions, "+
			"keep fewer of them (keep_versions), or ask the operator for a larger quota",
		show(a.used), show(a.limit.shown()), show(a.adds))
}

func show(bytes int64) string { return humanize.IBytes(uint64(max(bytes, 0))) }
