package resources

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestPace works for a tenth of the time, until somebody waits.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wake := make(chan struct{}, 1)
		p := pace{wake: wake, began: time.Now()}
		work := func() time.Duration {
			began := time.Now()
			if err := p.work(t.Context(), func() error { time.Sleep(time.Second); return nil }); err != nil {
				t.Fatal(err)
			}
			return time.Since(began)
		}
		if took := work(); took != 10*time.Second {
			t.Errorf("a second's work took %v, want ten seconds with the rest", took)
		}
		time.Sleep(time.Second) // reads what comes next
		if took := work(); took != 19*time.Second {
			t.Errorf("a second's work after a second's reading took %v, want a second and eighteen of rest", took)
		}
		wake <- struct{}{}
		for range 2 {
			if took := work(); took != time.Second {
				t.Errorf("with somebody waiting a second's work took %v", took)
			}
		}
		p = pace{}
		if took := work(); took != time.Second {
			t.Errorf("without rests a second's work took %v", took)
		}
	})
}
