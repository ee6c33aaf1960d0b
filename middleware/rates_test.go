package middleware

import (
	"context"
	"encoding/binary"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"golang.org/x/time/rate"
	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/internal/suite"
)

// clock is a time that tests move.
type clock struct{ time time.Time }

func newClock() *clock { return &clock{time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time { return c.time }

func (c *clock) pass(d time.Duration) { c.time = c.time.Add(d) }

func ofStates(own auth.Limits) int { return own.States }

// org is a caller of the organization of this number, with its own limit; 0 for none.
func org(number uint64, limit int) auth.Principal {
	p := auth.Principal{Limits: auth.Limits{Requests: 1, States: limit}}
	binary.BigEndian.PutUint64(p.Org[8:], number+1)
	return p
}

// burst counts how many requests pass at once.
func (r *rates) burst(p auth.Principal) (n int) {
	for r.count(p, anyRequest).wait == 0 {
		n++
	}
	return n
}

func TestRateIsABurstAndAMinute(t *testing.T) {
	for _, limit := range []int{1, 7, 60, 600, 100_000} {
		c := newClock()
		r := newRates(600, 0, ofStates, c.now)
		if n := r.burst(org(1, limit)); n != limit {
			t.Errorf("%d at once of %d", n, limit)
		}
		// One after the other, each as soon as it may.
		start, n := c.time, 0
		for c.time.Sub(start) < time.Minute {
			s := r.count(org(1, limit), anyRequest)
			if s.wait == 0 {
				n++
				continue
			}
			if s.wait > time.Minute/time.Duration(limit)+time.Microsecond {
				t.Fatalf("limit %d: told to wait %v", limit, s.wait)
			}
			c.pass(s.wait)
		}
		if n < limit-1 || n > limit {
			t.Errorf("%d in the next minute, of %d", n, limit)
		}
	}
}

func TestStanding(t *testing.T) {
	c := newClock()
	r := newRates(60, 0, ofStates, c.now)
	first := r.count(org(1, 0), anyRequest)
	if first != (standing{limit: 60, remaining: 59, whole: time.Second}) {
		t.Errorf("after one request: %+v", first)
	}
	r.burst(org(1, 0))
	if s := r.count(org(1, 0), anyRequest); s.remaining != 0 || s.whole != time.Minute || s.wait != time.Second {
		t.Errorf("with nothing left: %+v", s)
	}
	if s := r.count(org(2, 0), anyRequest); s != first {
		t.Errorf("another organization: %+v", s)
	}
	c.pass(1500 * time.Millisecond)
	if s := r.count(org(1, 0), anyRequest); s.remaining != 0 || s.whole != 59500*time.Millisecond || s.wait != 0 {
		t.Errorf("1.5 s later: %+v", s)
	}
}

// A limit that changes counts at once, in both directions.
func TestRateOfItsOwn(t *testing.T) {
	c := newClock()
	r := newRates(60, 0, ofStates, c.now)
	r.burst(org(1, 0))
	if s := r.count(org(1, auth.Unlimited), anyRequest); s != (standing{}) {
		t.Errorf("without a limit: %+v", s)
	}
	c.pass(time.Second)
	if n := r.burst(org(1, 600)); n < 1 || n > 10 {
		t.Errorf("%d pass a second after the limit was raised to ten a second", n)
	}
	c.pass(time.Second)
	if n := r.burst(org(1, 600)); n != 10 {
		t.Errorf("%d pass in a second, want 10", n)
	}
	c.pass(time.Minute)
	if n := r.burst(org(1, 5)); n != 5 {
		t.Errorf("%d pass at once after the limit was lowered to 5", n)
	}
	if n := newRates(0, 0, ofStates, c.now).burst(org(1, 5)); n != 5 {
		t.Errorf("%d pass at once where the server has no limit and the organization one of 5", n)
	}
	if s := newRates(0, 0, ofStates, c.now).count(org(1, 0), anyRequest); s != (standing{}) {
		t.Errorf("without any limit: %+v", s)
	}
}

// Dropping idle buckets changes nothing that anybody can see.
func TestRatesForgetNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClock()
		r := newRates(60, 0, ofStates, c.now)
		kept := map[uuid.UUID]*rate.Limiter{}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			c.pass(time.Duration(rapid.Int64Range(0, int64(40*time.Second)).Draw(t, "pause")))
			p := org(rapid.Uint64Range(0, 2).Draw(t, "org"), 0)
			if kept[p.Org] == nil {
				kept[p.Org] = rate.NewLimiter(1, 60)
			}
			for range rapid.IntRange(1, 70).Draw(t, "requests") {
				if got, want := r.count(p, anyRequest).wait == 0, kept[p.Org].AllowN(c.time, 1); got != want {
					t.Fatalf("passes: %t, with all buckets kept: %t", got, want)
				}
			}
		}
	})
}

// A million organizations are forgotten again, in no more time than one.
func TestRatesOfAMillion(t *testing.T) {
	t.Run("200000", func(t *testing.T) { ratesOfMany(t, 200_000) })
	t.Run("1000000", func(t *testing.T) {
		suite.Deep(t)
		ratesOfMany(t, 1_000_000)
	})
}

func ratesOfMany(t *testing.T, many uint64) {
	t.Helper()
	c := newClock()
	r := newRates(60, 0, ofStates, c.now)
	before := heap()
	for i := range many {
		if i%(many/10) == 0 {
			c.pass(10 * time.Second)
		}
		r.count(org(i, 0), anyRequest)
	}
	full := heap()
	for range 3 {
		c.pass(30 * time.Second)
		r.count(org(0, 0), anyRequest)
	}
	if n := len(r.current) + len(r.previous); n > 2 {
		t.Errorf("%d are kept of the one that is used", n)
	}
	after := heap()
	t.Logf("heap: %d MB with them, %d MB without", (full-before)>>20, (max(after, before)-before)>>20)
	if after > before+(8<<20) {
		t.Errorf("the heap is still %d MB larger", (after-before)>>20)
	}
	runtime.KeepAlive(r)
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Those who come a little too fast wait for their turns, in order and no longer than they must;
// those for whom it would take too long are told so, and use up nothing.
func TestTurnsWithinPatience(t *testing.T) {
	c := newClock()
	r := newRates(60, 5*time.Second, ofStates, c.now)
	for range 60 {
		if s := r.count(org(1, 0), anyRequest); s.wait+s.delay != 0 {
			t.Fatalf("within the burst: %+v", s)
		}
	}
	for n := range 5 {
		if s := r.count(org(1, 0), anyRequest); s.wait != 0 ||
			s.delay.Round(time.Millisecond) != time.Duration(n+1)*time.Second || s.remaining != 0 {
			t.Errorf("%d waits already: %+v", n, s)
		}
	}
	for range 100 {
		if s := r.count(org(1, 0), anyRequest); s.delay != 0 || s.wait.Round(time.Millisecond) != time.Second {
			t.Fatalf("five wait already: %+v", s)
		}
	}
	if s := r.count(org(2, 0), anyRequest); s.wait+s.delay != 0 {
		t.Errorf("another organization: %+v", s)
	}
	c.pass(time.Second)
	if s := r.count(org(1, 0), anyRequest); s.wait != 0 || s.delay.Round(time.Millisecond) != 5*time.Second {
		t.Errorf("a second later: %+v", s)
	}
	if requests, _ := r.left(org(1, 0)); requests != 0 {
		t.Errorf("%d left", requests)
	}
}

// A crowd that is too fast is slowed down, and nobody of it is refused.
func TestCrowdIsSlowedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guard := NewGuard(Limits{States: 600, Patience: 5 * time.Second}, time.Now)
		begin := time.Now()
		served, refused := crowd(t, guard, 20, 2000)
		if served != 2000 || refused != 0 {
			t.Errorf("%d served, %d refused", served, refused)
		}
		// A burst at once, and the rest at ten a second.
		if took := time.Since(begin); took < 139*time.Second || took > 141*time.Second {
			t.Errorf("it took %v", took)
		}
		if held := guard.Held(); held != 1400 {
			t.Errorf("%d were held", held)
		}
	})
}

// crowd sends requests of one organization, so many at once, and counts how they are answered.
func crowd(t *testing.T, guard *Guard, atOnce, requests int) (served, refused int64) {
	engine := gin.New()
	engine.Use(RequestID(), func(c *gin.Context) { infoOf(c).principal = org(1, 0) }, guard.States(nil))
	engine.GET("/", Admit(0), func(c *gin.Context) { c.Status(http.StatusNoContent) })
	var all sync.WaitGroup
	var good, bad atomic.Int64
	for range atOnce {
		all.Go(func() {
			for range requests / atOnce {
				answer := httptest.NewRecorder()
				engine.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
				if answer.Code == http.StatusNoContent {
					good.Add(1)
				} else {
					bad.Add(1)
				}
			}
		})
	}
	all.Wait()
	return good.Load(), bad.Load()
}

// Who leaves while it waits holds nothing up.
func TestLeavingWhileHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guard := NewGuard(Limits{States: 1, Patience: time.Minute}, time.Now)
		crowd(t, guard, 1, 1)
		ctx, leave := context.WithCancel(t.Context())
		engine := gin.New()
		engine.Use(RequestID(), func(c *gin.Context) { infoOf(c).principal = org(1, 0) }, guard.States(nil))
		engine.GET("/", func(*gin.Context) { t.Error("it was served") })
		go leave()
		engine.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
		if n := guard.begun.InUse(); n != 0 {
			t.Errorf("%d have begun", n)
		}
	})
}

// Those who execute runs have a limit of their own, and work that has begun is no way around it.
func TestExecutorsAreLimited(t *testing.T) {
	gin.SetMode(gin.TestMode)
	guard := NewGuard(Limits{States: 1, Executors: 5}, newClock().now)
	caller := org(1, 0)
	caller.Run = &auth.RunGrant{ID: "run"}
	router := gin.New()
	router.GET("/", Identify(nil, func(context.Context, *gin.Context, string) (auth.Principal, error) {
		return caller, nil
	}), guard.Executors())
	passed := 0
	for range 10 {
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		request.Header.Set("Authorization", "Bearer x")
		answer := httptest.NewRecorder()
		router.ServeHTTP(answer, request)
		if answer.Code == http.StatusOK {
			passed++
		} else if answer.Code != http.StatusTooManyRequests || answer.Header().Get("Retry-After") == "" {
			t.Errorf("%d %s", answer.Code, answer.Body)
		}
	}
	if passed != 5 || guard.Refused(Rate) != 5 {
		t.Errorf("%d requests pass, %d are refused", passed, guard.Refused(Rate))
	}
}

// A request that is refused because too many have begun uses up nothing of the rate.
func TestRefusalOfTooManyCountsForNothing(t *testing.T) {
	guard := NewGuard(Limits{States: 5, Begun: 10}, time.Now)
	share := budget.Share{Org: org(1, 0).Org}
	taken := int64(0)
	for guard.begun.TryAcquire(share, 1) {
		taken++
	}
	if served, refused := crowd(t, guard, 1, 20); served != 0 || refused != 20 {
		t.Fatalf("%d are served, %d refused", served, refused)
	}
	guard.begun.Release(share, taken)
	if served, _ := crowd(t, guard, 1, 5); served != 5 {
		t.Errorf("%d of 5 are served behind the refusals", served)
	}
}
