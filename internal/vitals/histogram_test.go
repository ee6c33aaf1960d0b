package vitals_test

import (
	"maps"
	"testing"

	"github.com/holdfast/holdfast/internal/vitals"
)

func TestHistogram(t *testing.T) {
	h := vitals.NewHistogram(1, 2, 4)
	for _, value := range []float64{0.5, 1, 1.5, 4, 9} {
		h.Observe(value)
	}
	d := h.Distribution()
	if d.Count != 5 || d.Sum != 16 || !maps.Equal(d.UpTo, map[float64]uint64{1: 2, 2: 3, 4: 4}) {
		t.Errorf("%+v", d)
	}
}
