package bench

import (
	"testing"
	"time"
)

func TestStatistics(t *testing.T) {
	one, other := newRecord(), newRecord()
	for i := 1; i <= 1000; i++ {
		r := one
		if i%2 == 0 {
			r = other
		}
		took := time.Duration(i) * time.Millisecond
		r.add(took, [steps]time.Duration{stepGet: took / 2})
	}
	other.fail(&Failure{Step: "POST", Kind: Crowded})
	one.fail(&Failure{Step: "POST", Kind: Crowded})
	l := &Load{options: Options{Mix: Cycle, Size: 10_000, Connections: 2}}
	result := l.result([]*record{one, other}, 4*time.Second)
	if result.Operations != 1000 || result.PerSecond != 250 || result.Errors["POST 503"] != 2 || !result.Limited() {
		t.Errorf("%+v", result)
	}
	checkLatency(t, result.Latency, 1)
	checkLatency(t, result.Steps["GET"], 0.5)
	if len(result.Steps) != 1 {
		t.Errorf("steps %v", result.Steps)
	}
}

// checkLatency wants the percentiles of 1 to 1,000 ms times scale, to within a percent.
func checkLatency(t *testing.T, got Latency, scale float64) {
	t.Helper()
	for _, c := range [][2]float64{{got.P50, 500}, {got.P95, 950}, {got.P99, 990}, {got.Max, 1000}} {
		if want := c[1] * scale; c[0] < want*0.99 || c[0] > want*1.01 {
			t.Errorf("%v ms, want %v", c[0], want)
		}
	}
}
