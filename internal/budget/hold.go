package budget

import "context"

// Hold is what one caller has acquired of a budget. It is used by one goroutine at a time,
// and must not be copied while it holds something, unless the copy takes its place.
type Hold struct {
	from  *Budget // nil for no bound
	share Share
	n     int64
	over  int64 // beside n: what was asked for beyond what anybody can have
}

// Hold returns one that holds nothing yet. That of a nil Budget has no bound.
func (b *Budget) Hold(s Share) Hold { return Hold{from: b, share: s} }

// Amount returns how much it holds.
func (h *Hold) Amount() int64 { return h.n + h.over }

// TryAcquire acquires n more if there is as much now. What a Hold acquires first may be
// more than anybody can have: it counts as all of that, and so finds room when nobody else
// holds anything.
func (h *Hold) TryAcquire(n int64) bool {
	counted := h.counted(n)
	if h.from != nil && !h.from.TryAcquire(h.share, counted) {
		return false
	}
	h.n, h.over = h.n+counted, h.over+n-counted
	return true
}

// Acquire waits until there is n, as TryAcquire counts it. A Hold that has something
// already never waits, because two that wait with a part in hand would wait for one
// another. Errors: ctx's own, and fault.Overloaded, after 30 seconds or at once.
func (h *Hold) Acquire(ctx context.Context, n int64) error {
	if h.from == nil || h.n > 0 || IsAtOnce(ctx) {
		return h.AcquireNow(n)
	}
	counted := h.counted(n)
	if err := h.from.acquire(ctx, h.share, counted); err != nil {
		return err
	}
	h.n, h.over = counted, n-counted
	return nil
}

// atOnce is the key of what AtOnce says.
type atOnce struct{}

// AtOnce returns a context in which nobody waits for room: Acquire is AcquireNow there. It is for who
// has other things to do meanwhile, and comes again.
func AtOnce(ctx context.Context) context.Context { return context.WithValue(ctx, atOnce{}, true) }

// IsAtOnce reports whether nobody waits in the context: what AtOnce says.
func IsAtOnce(ctx context.Context) bool { return ctx.Value(atOnce{}) != nil }

// AcquireNow is TryAcquire with fault.Overloaded for a refusal.
func (h *Hold) AcquireNow(n int64) error {
	if !h.TryAcquire(n) {
		return h.from.Refuse()
	}
	return nil
}

// Keep releases all but n.
func (h *Hold) Keep(n int64) {
	if n >= h.Amount() {
		return
	}
	kept := min(n, h.n)
	if h.from != nil {
		h.from.Release(h.share, h.n-kept)
	}
	h.n, h.over = kept, n-kept
}

// Release releases all of it. To call it again does nothing.
func (h *Hold) Release() { h.Keep(0) }

// counted returns what n more count as.
func (h *Hold) counted(n int64) int64 {
	if h.from == nil || h.from.capacity <= 0 || h.n > 0 {
		return n
	}
	return min(n, h.from.most(h.share))
}
