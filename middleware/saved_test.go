package middleware

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/auth"
)

// newSavingRates saves up a minute's worth of 60 a minute for operations.
func newSavingRates(c *clock) *rates {
	r := newRates(60, 0, ofStates, c.now)
	r.saved = time.Minute
	return r
}

// passing counts how many requests pass at once, of at most so many.
func (r *rates) passing(p auth.Principal, d demand, most int) (n int) {
	for n < most && r.count(p, d).wait == 0 {
		n++
	}
	return n
}

func TestOperationsUseWhatIsSaved(t *testing.T) {
	c := newClock()
	r := newSavingRates(c)
	if all, operations := r.left(org(1, 0)); all != 60 || operations != 60 {
		t.Errorf("at first %d are left, and %d for operations", all, operations)
	}
	if n := r.passing(org(1, 0), operation, 60); n != 60 {
		t.Errorf("%d operations pass", n)
	}
	// What everything shares is not touched by that.
	if all, operations := r.left(org(1, 0)); all != 60 || operations != 0 {
		t.Errorf("%d are left, and %d for operations", all, operations)
	}
	if n := r.passing(org(1, 0), anyRequest, 1000); n != 60 {
		t.Errorf("%d other requests pass", n)
	}
	if n := r.passing(org(1, 0), operation, 1000); n != 0 {
		t.Errorf("%d more operations pass", n)
	}
	// A minute gives back what everything shares; only then something is saved up.
	c.pass(time.Minute)
	if all, operations := r.left(org(1, 0)); all != 60 || operations != 0 {
		t.Errorf("a minute later %d are left, and %d for operations", all, operations)
	}
	c.pass(30 * time.Second)
	if all, operations := r.left(org(1, 0)); all != 60 || operations != 30 {
		t.Errorf("half a minute later %d are left, and %d for operations", all, operations)
	}
	c.pass(time.Hour)
	if n := r.passing(org(1, 0), operation, 1000); n != 120 {
		t.Errorf("%d operations pass at once, after an hour", n)
	}
}

// What writes, lists or searches gets nothing of what is saved up.
func TestOthersUseNothingSaved(t *testing.T) {
	c := newClock()
	r := newSavingRates(c)
	if n := r.passing(org(1, 0), anyRequest, 1000); n != 60 {
		t.Errorf("%d pass at once", n)
	}
	s := r.count(org(1, 0), operation)
	if s.wait+s.delay != 0 || s.remaining != 59 {
		t.Errorf("an operation beside them: %+v", s)
	}
}

// In no stretch of time do more pass than both bursts and what came back meanwhile.
func TestSavingRaisesNoRate(t *testing.T) {
	c := newClock()
	r := newSavingRates(c)
	passed := 0
	for range 600 {
		passed += r.passing(org(1, 0), operation, 1000)
		c.pass(time.Second)
	}
	if passed < 120+598 || passed > 120+600 {
		t.Errorf("%d passed in ten minutes, of 60 a minute", passed)
	}
}

// Dropping idle buckets changes nothing of what is saved.
func TestSavedIsNotForgotten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClock()
		r := newSavingRates(c)
		type model struct {
			any, saved int
			seen       time.Time
		}
		kept := map[uuid.UUID]*model{}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			c.pass(time.Duration(rapid.IntRange(0, 80).Draw(t, "pause")) * time.Second)
			p := org(rapid.Uint64Range(0, 2).Draw(t, "org"), 0)
			if kept[p.Org] == nil {
				kept[p.Org] = &model{60, 60, c.time}
			}
			m := kept[p.Org]
			m.any, m.seen = m.any+int(c.time.Sub(m.seen)/time.Second), c.time
			m.saved, m.any = min(m.saved+max(m.any-60, 0), 60), min(m.any, 60)
			d := rapid.SampledFrom([]demand{anyRequest, operation}).Draw(t, "demand")
			for range rapid.IntRange(1, 130).Draw(t, "requests") {
				want := true
				switch {
				case d == operation && m.saved > 0:
					m.saved--
				case m.any > 0:
					m.any--
				default:
					want = false
				}
				if got := r.count(p, d).wait == 0; got != want {
					t.Fatalf("passes: %t, with all buckets kept: %t", got, want)
				}
			}
		}
	})
}

// A limit that is lowered takes from what was saved up under the old one.
func TestSavedFollowsTheLimit(t *testing.T) {
	c := newClock()
	r := newSavingRates(c)
	r.count(org(1, 600), operation)
	c.pass(time.Second)
	r.count(org(1, 6), operation)
	if _, operations := r.left(org(1, 6)); operations > 6 {
		t.Errorf("%d are saved of 6 a minute", operations)
	}
}
