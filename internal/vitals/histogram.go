package vitals

import (
	"slices"
	"sync"
)

// Histogram counts values by how large they are. It is safe for concurrent use.
type Histogram struct {
	mu     sync.Mutex
	bounds []float64
	counts []uint64 // of the values up to each bound, and beyond the one before
	count  uint64
	sum    float64
}

// NewHistogram returns one without values. The bounds ascend.
func NewHistogram(bounds ...float64) *Histogram {
	return &Histogram{bounds: bounds, counts: make([]uint64, len(bounds))}
}

// Observe adds a value.
func (h *Histogram) Observe(value float64) {
	i, _ := slices.BinarySearch(h.bounds, value)
	h.mu.Lock()
	defer h.mu.Unlock()
	if i < len(h.counts) {
		h.counts[i]++
	}
	h.count++
	h.sum += value
}

// Distribution is what a Histogram has counted.
type Distribution struct {
	Count uint64
	Sum   float64
	UpTo  map[float64]uint64 // how many values were no larger than a bound
}

// Distribution returns what was counted so far.
func (h *Histogram) Distribution() Distribution {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := Distribution{Count: h.count, Sum: h.sum, UpTo: make(map[float64]uint64, len(h.bounds))}
	var so uint64
	for i, bound := range h.bounds {
		so += h.counts[i]
		d.UpTo[bound] = so
	}
	return d
}
