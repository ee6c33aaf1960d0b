package statetest_test

import (
	"sync"

	"github.com/holdfast/holdfast/state"
)

// fenceBreakages are the stores that break a promise about what runs may do.
func fenceBreakages() map[string]breakage {
	plain := func(wrap func(state.Store) state.Store, checks ...string) breakage { return breakage{wrap, checks} }
	return map[string]breakage{
		"has no fences": plain(bendsChanges(func(c *state.Change) { c.Fence = nil }), "Fences", "FenceSeen",
			"FenceHolds"),
		"hides fences": plain(seesHeads(func(h *state.Head) { h.Fence = state.Fence{} }), "FenceSeen",
			"FenceHolds"),
		"fences apart from writes": plain(fencesApart, "FenceAtomic"),
		"sees old fences":          plain(seesOldFences(), "FenceHolds", "FenceSeen"),
		"forgets who runs":         plain(bendsChanges(forgetsRuns), "RunLock"),
		"forgets a closed fence":   plain(bendsChanges(reopensFences), "Fences", "FenceHolds"),
	}
}

// fencesApart sets a change's fence before the rest, in a transaction of its own.
func fencesApart(next state.Store) state.Store {
	return twisted{next, func(c call) (state.Head, error) {
		_, err := c.next.Update(c.ctx, c.ref, nil, func(h state.Head) (state.Change, error) {
			change, err := c.decide(h)
			return state.Change{Fence: change.Fence}, err
		})
		if err != nil {
			return state.Head{}, err
		}
		return c.make()
	}}
}

// seesOldFences lets decisions see the first fence that a state had.
func seesOldFences() func(state.Store) state.Store {
	var mu sync.Mutex
	first := map[state.Ref]state.Fence{}
	return func(next state.Store) state.Store {
		return twisted{next, func(c call) (state.Head, error) {
			return c.next.Update(c.ctx, c.ref, c.body, func(h state.Head) (state.Change, error) {
				mu.Lock()
				defer mu.Unlock()
				if old, ok := first[c.ref]; ok {
					h.Fence = old
				} else if h.Fence != (state.Fence{}) {
					first[c.ref] = h.Fence
				}
				return c.decide(h)
			})
		}}
	}
}

func forgetsRuns(c *state.Change) {
	if c.Lock != nil {
		lock := *c.Lock
		lock.Run = state.RunRef{}
		c.Lock = &lock
	}
}

func reopensFences(c *state.Change) {
	if c.Fence != nil {
		c.Fence = &state.Fence{Run: c.Fence.Run, Epoch: c.Fence.Epoch, Open: true}
	}
}
