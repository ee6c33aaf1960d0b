package budget

import "context"

// Hold is what one caller has acquired of a budget. It is used by one goroutine at a time,
// and must not be copied while it holds something, unless the copy takes its place.
type Hold struct {
	from  *Budget // nil for no bound
	share Share
	n     int64
}

// Hold returns one that holds nothing yet. That of a nil Budget has no bound.
func (b *Budget) Hold(s Share) Hold { return Hold{from: b, share: s} }

// Amount returns how much it holds.
func (h *Hold) Amount() int64 { return h.n }

// TryAcquire acquires n more if there is as much now. What is more than anybody can have
// counts as all of that, for the first time: it finds room when nobody else holds anything.
func (h *Hold) TryAcquire(n int64) bool {
	if h.from != nil {
		n = h.atMost(n)
		if !h.from.TryAcquire(h.share, n) {
			return false
		}
	}
	h.n += n
	return true
}

// Acquire waits until there is n, as TryAcquire counts it. A Hold that has something
// already never waits, because two that wait with a part in hand would wait for one
// another. Errors: ctx's own, and fault.Overloaded, after 30 seconds or at once.
func (h *Hold) Acquire(ctx context.Context, n int64) error {
	if h.from == nil || h.n > 0 {
		return h.AcquireNow(n)
	}
	n = h.atMost(n)
	if err := h.from.acquire(ctx, h.share, n); err != nil {
		return err
	}
	h.n = n
	return nil
}

// AcquireNow is TryAcquire with fault.Overloaded for a refusal.
func (h *Hold) AcquireNow(n int64) error {
	if !h.TryAcquire(n) {
		return h.from.Refuse()
	}
	return nil
}

// Keep releases all but n.
func (h *Hold) Keep(n int64) {
	if n >= h.n {
		return
	}
	if h.from != nil {
		h.from.Release(h.share, h.n-n)
	}
	h.n = n
}

// Release releases all of it. To call it again does nothing.
func (h *Hold) Release() { h.Keep(0) }

func (h *Hold) atMost(n int64) int64 {
	if h.n > 0 || h.from.capacity <= 0 {
		return n
	}
	return min(n, h.from.capacity-h.from.reserve)
}
