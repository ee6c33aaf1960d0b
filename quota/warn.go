package quota

import (
	"context"
	"log/slog"
	"sync"

	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	// Warn is from how many hundredths of its quota on an organization is warned, and
	// calm below how many it would be warned anew.
	Warn = 80
	calm = 70
)

// Reason is why something was refused.
type Reason int

// The reasons.
const (
	Quota   Reason = iota // the organization has as much as it may have
	Reserve               // the disk has little more than its reserve left
	reasons
)

// String returns the reason as it stands in metrics.
func (r Reason) String() string { return [...]string{"quota", "reserve"}[r] }

// Reasons returns all of them.
func Reasons() []Reason { return []Reason{Quota, Reserve} }

// Refused returns how many changes were refused for the reason.
func (k *Keeper) Refused(r Reason) uint64 { return k.refused[r].Load() }

// Spared returns how many changes passed because they came from a lock's holder.
func (k *Keeper) Spared() uint64 { return k.spared.Load() }

// warnings are the organizations that were near their quota when they stored something
// last, as far as there is room to remember them.
type warnings struct {
	mu   sync.Mutex
	near *lru.LRU[uuid.UUID, Standing]
}

func newWarnings() warnings {
	near, _ := lru.NewLRU[uuid.UUID, Standing](remembered, nil)
	return warnings{near: near}
}

// Near returns what an organization had and may have that was near its quota when it stored
// something last; false for any other.
func (k *Keeper) Near(org uuid.UUID) (Standing, bool) {
	if k == nil {
		return Standing{}, false
	}
	k.warnings.mu.Lock()
	defer k.warnings.mu.Unlock()
	return k.warnings.near.Get(org)
}

// NearOnes returns how many organizations were near their quota when they stored something
// last, since the server started.
func (k *Keeper) NearOnes() int {
	k.warnings.mu.Lock()
	defer k.warnings.mu.Unlock()
	return k.warnings.near.Len()
}

// watch takes in what an organization has by now.
func (k *Keeper) watch(ctx context.Context, org uuid.UUID, used int64, l limit) {
	s := Standing{Used: used, Limit: l.shown()}
	if !k.warnings.note(org, s, l) {
		return
	}
	k.o.Log.WarnContext(ctx, "an organization comes near its quota", slog.String("org", org.String()),
		slog.String("used", show(s.Used)), slog.String("quota", show(s.Limit)))
	if k.o.Warned != nil {
		k.o.Warned(ctx, org, s)
	}
}

// note reports whether the organization has come near just now.
func (w *warnings) note(org uuid.UUID, s Standing, l limit) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.near.Contains(org)
	switch {
	case l.bytes == Unlimited, s.Used < l.bytes/100*calm:
		w.near.Remove(org)
	case was || s.Used >= l.bytes/100*Warn:
		w.near.Add(org, s)
		return !was
	}
	return false
}

// watchDisk logs when the disk comes to its reserve, and when it is beyond that again.
func (k *Keeper) watchDisk(ctx context.Context, where place) {
	if !where.known {
		return
	}
	scarce := where.scarce()
	if k.scarce.Swap(scarce) == scarce {
		return
	}
	if scarce {
		k.o.Log.ErrorContext(ctx, "the disk has no more than its reserve left: only lock holders and what makes room go on",
			"free", show(where.free), "reserve", show(where.reserve))
	} else {
		k.o.Log.InfoContext(ctx, "the disk has room beyond its reserve again", "free", show(where.free))
	}
}
