package quota

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// Kind is what a source keeps.
type Kind string

// The kinds of sources.
const (
	States  Kind = "states"
	Uploads Kind = "uploads"
)

// Counter says how many bytes are kept for an organization. It is exact, sees what was
// stored before it was asked, and its cost doesn't grow with what is kept. state.Store and
// inventory.Store are Counters.
type Counter interface {
	Usage(ctx context.Context, org uuid.UUID) (int64, error)
}

// Source is a store that organizations fill.
type Source struct {
	Kind  Kind
	Store Counter
	// Elsewhere says that it doesn't fill the disk: it is in memory, or in a database with
	// disks of its own. Limits that follow the disk don't count it.
	Elsewhere bool
}

// What Options.Limit may return beside a size.
const (
	None int64 = -1 // no limit
	Auto int64 = 0  // twice what is free beyond the reserve
)

// Options are what a Keeper needs to know.
type Options struct {
	Sources []Source
	// Limit returns an organization's quota: a size, None or Auto.
	Limit func(org uuid.UUID) int64
	// Free measures the disk; nil when there is none to be filled.
	Free func() (int64, error)
	// Reserve is how much of the disk only lock holders and purges use; 0 for nothing.
	Reserve int64
	// Overdraft is how much the holders of locks may store beyond the quota of their
	// organization, or a tenth of that if it is more.
	Overdraft int64
	Now       func() time.Time
	Log       *slog.Logger
	// Warned is told of each organization that comes to Warn of its quota; nil for nobody.
	Warned func(ctx context.Context, org uuid.UUID, standing Standing)
}

// Keeper says who may store what. A nil Keeper lets everybody. It is safe for concurrent use.
type Keeper struct {
	o        Options
	disk     disk
	remote   remotes
	lent     lent
	warnings warnings

	refused [reasons]atomic.Uint64
	spared  atomic.Uint64
	scarce  atomic.Bool // the disk was in its reserve when it was last asked for
}

// New returns a keeper.
func New(o Options) *Keeper {
	return &Keeper{o: o, disk: disk{look: o.Free, now: o.Now}, remote: newRemotes(o.Now), lent: newLent(),
		warnings: newWarnings()}
}

// Standing is what an organization has, and may have.
type Standing struct {
	Used  int64
	Limit int64 // Unlimited for none; rounded down where it follows what is free on the disk
	By    map[Kind]int64
}

// Standing returns an organization's. It is for showing: nothing that is stored depends on it.
func (k *Keeper) Standing(ctx context.Context, org uuid.UUID) (Standing, error) {
	s := Standing{Limit: Unlimited, By: map[Kind]int64{}}
	if k == nil {
		return s, nil
	}
	where := k.place()
	bound := k.limit(org, where)
	for _, source := range k.o.Sources {
		used, err := source.Store.Usage(ctx, org)
		if err != nil {
			return s, err
		}
		s.By[source.Kind] = used
		if !bound.moves || !source.Elsewhere {
			s.Used += used
		}
	}
	s.Limit = bound.shown()
	return s, nil
}

// Disk returns how many bytes are free on the disk and how many of them are the reserve;
// false when nobody knows.
func (k *Keeper) Disk() (free, reserve int64, known bool) {
	if k == nil {
		return 0, 0, false
	}
	free, known = k.disk.free()
	return free, k.o.Reserve, known
}

// Scarce says in words that the disk has no more than its reserve left, so that only who holds a lock already can
// write; empty where everybody can.
func (k *Keeper) Scarce() string {
	if k == nil || !k.place().scarce() {
		return ""
	}
	return "the disk has no more than its reserve left: only who holds a lock already can write, and what makes room goes " +
		"on; an operator must make room"
}

func (k *Keeper) place() place {
	free, known := k.disk.free()
	return place{known: known, free: free, reserve: k.o.Reserve}
}

// limit is an organization's on a disk.
func (k *Keeper) limit(org uuid.UUID, where place) limit {
	return where.limit(k.o.Limit(org))
}

// beside is what an organization has in all sources but one, as far as it counts for the
// limit. A source that can't be asked counts as when it was asked last: what one store keeps
// must not stop another one.
func (k *Keeper) beside(ctx context.Context, org uuid.UUID, kind Kind, bound limit) int64 {
	var sum int64
	for _, source := range k.o.Sources {
		switch {
		case source.Kind == kind, bound.bytes == Unlimited, bound.moves && source.Elsewhere:
		case source.Elsewhere:
			sum += k.remote.usage(ctx, source, org)
		default:
			if used, err := source.Store.Usage(ctx, org); err == nil {
				sum += used
			}
		}
	}
	return sum
}

func (k *Keeper) source(kind Kind) Source {
	for _, source := range k.o.Sources {
		if source.Kind == kind {
			return source
		}
	}
	return Source{Kind: kind}
}
