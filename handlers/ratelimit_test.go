package handlers_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

// stopped is a time that stands still until a test moves it.
type stopped struct {
	mu   sync.Mutex
	time time.Time
}

func (s *stopped) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.time
}

func (s *stopped) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.time = s.time.Add(d)
}

// rateDeps has limits of 3 and 5 requests a minute.
func rateDeps(t *testing.T) (handlers.Deps, *stopped) {
	deps, _, _ := testDepsWithoutResources(t)
	clock := &stopped{time: time.Now()}
	deps.Now, deps.Limits = clock.now, middleware.Limits{Requests: 3, States: 5}
	return deps, clock
}

// exhaust uses up what acme may ask of its states.
func exhaust(t *testing.T, c caller) {
	t.Helper()
	for range 10 {
		if c.do("GET /api/v1/state/other", "").status == 429 {
			return
		}
	}
	t.Fatal("ten requests pass, with a limit of five")
}

func TestRateLimits(t *testing.T) {
	for _, kind := range []struct {
		limit  int
		routes []string
	}{
		{3, []string{"GET /api/v1/data", "GET /api/v1/data/summary", "POST /upload", "GET /api/v1/nothing",
			"PATCH /api/v1/state/x", "BREW /terraform/state/e/p"}},
		{5, []string{"GET /api/v1/state/x", "POST /terraform/state/e/p", "LOCK /api/v1/state/x", "GET /api/v1/state/x/lock",
			"GET /api/v1/resources", "GET /api/v1/resources/coverage", "GET /api/v1/resources/a/history?state=x"}},
	} {
		for _, route := range kind.routes {
			deps, clock := rateDeps(t)
			if strings.Contains(route, "/resources") {
				deps.Resources = testDeps(t).Resources
			}
			server := startServer(t, deps)
			c := newCaller(t, server, acme, acmeKey)
			for left := kind.limit - 1; left >= 0; left-- {
				got := c.do(route, body(1))
				want := ", left" // said from less than a quarter on
				if left*4 < kind.limit {
					want = fmt.Sprintf("%d, %d left", kind.limit, left)
				}
				if have := got.header.Get("RateLimit-Limit") + ", " +
					strings.TrimLeft(got.header.Get("RateLimit-Remaining")+" left", " "); have != want || got.status == 429 {
					t.Errorf("%s: %d, %s; want %s", route, got.status, have, want)
				}
			}
			got := c.do(route, body(1))
			if got.status != 429 || !strings.Contains(got.body, `"rate_limited"`) ||
				got.header.Get("RateLimit-Remaining") != "0" || got.header.Get("RateLimit-Reset") != "60" {
				t.Errorf("%s, once more: %d %v %s", route, got.status, got.header, got.body)
			}
			// 20 s with 3 a minute, and 12 s with 5: both are more than what a client is told.
			if after := got.header.Get("Retry-After"); after != "5" {
				t.Errorf("%s: Retry-After %s, want 5", route, after)
			}
			if got := newCaller(t, server, globex, globexKey).do(route, body(1)); got.status == 429 {
				t.Errorf("%s: another organization is refused", route)
			}
			clock.pass(time.Minute/time.Duration(kind.limit) - 1500*time.Millisecond)
			if after := c.do(route, body(1)).header.Get("Retry-After"); after != "2" {
				t.Errorf("%s: Retry-After %s for 1.5 s, want 2", route, after)
			}
			clock.pass(1500 * time.Millisecond)
			if got := c.do(route, body(1)); got.status == 429 {
				t.Errorf("%s: %s after the whole wait", route, got.body)
			}
		}
	}
}

// Uploads and states don't use up each other's, and probes have no limit.
func TestRateLimitsAreApart(t *testing.T) {
	deps, _ := rateDeps(t)
	c := newCaller(t, startServer(t, deps), acme, acmeKey)
	exhaust(t, c)
	if got := c.do("POST /upload", oneUpload("a")); got.status != 200 {
		t.Errorf("an upload: %d %s", got.status, got.body)
	}
	stranger := c
	stranger.user = ""
	for _, probe := range []string{"GET /livez", "GET /health", "GET /readyz", "GET /metrics"} {
		for range 10 {
			if got := stranger.do(probe, ""); got.status != 200 || got.header.Get("RateLimit-Limit") != "" {
				t.Errorf("%s: %d %v", probe, got.status, got.header)
			}
		}
	}
}

// reloaded are keys that change while the server runs.
type reloaded struct{ atomic.Pointer[keys] }

func (r *reloaded) limit(own auth.Limits) {
	all, acmes := testKeys(), auth.Credentials{Org: acme, Key: acmeKey}
	one := all[acmes]
	one.Limits = own
	all[acmes] = one
	r.Store(&all)
}

func (r *reloaded) Verify(ctx context.Context, given auth.Credentials, client auth.Client) (auth.Principal, error) {
	return r.Load().Verify(ctx, given, client)
}

// An organization's own limit counts from the next request on.
func TestRateLimitOfItsOwn(t *testing.T) {
	deps, _ := rateDeps(t)
	known := &reloaded{}
	known.limit(auth.Limits{})
	deps.Verifier = known
	server := startServer(t, deps)
	c := newCaller(t, server, acme, acmeKey)
	exhaust(t, c)
	for own, want := range map[int]string{auth.Unlimited: "", 5: "5"} {
		known.limit(auth.Limits{States: own})
		got := c.do("GET /api/v1/state/x", "")
		if refused := got.status == 429; refused != (want != "") || got.header.Get("RateLimit-Limit") != want {
			t.Errorf("own limit %d: %d, RateLimit-Limit %q", own, got.status, got.header.Get("RateLimit-Limit"))
		}
	}
}

// Who holds the lock passes with nothing left; nobody else gains anything by an ID.
func TestRateLimitSparesTheHolder(t *testing.T) {
	for _, s := range spellings() {
		deps, clock := rateDeps(t)
		c := newCaller(t, startServer(t, deps), acme, acmeKey)
		states := 0
		for request, passes := range map[string]bool{
			"POST S?ID=a-1":                 true,
			"PUT S?ID=a-1":                  true,
			"DELETE S?ID=a-1":               true,
			"UNLOCK S | " + infoA:           true,
			"UNLOCK S | " + forceA:          true,
			"UNLOCK S?ID=a-1":               true,
			"DELETE S/lock | " + infoA:      true,
			"DELETE S/lock?ID=a-1":          true,
			"POST S?ID=b-2":                 false,
			"POST S?ID=a-10":                false,
			"POST S?ID=A-1":                 false,
			"POST S?id=a-1":                 false,
			"POST S?ID=a-1&ID=a-1":          false,
			"POST S?ID=":                    false,
			"POST S":                        false,
			"DELETE S":                      false,
			"DELETE S?ID=b-2":               false,
			"GET S?ID=a-1":                  false,
			"LOCK S | " + infoA:             false,
			"LOCK S?ID=a-1 | " + infoA:      false,
			"POST S/lock?ID=a-1 | " + infoA: false,
			"UNLOCK S":                      false, // a force-unlock, which names no lock
			"DELETE S/lock":                 false,
			"UNLOCK S | " + infoB:           false,
			"UNLOCK S?ID=b-2 | " + infoA:    false,
			"UNLOCK S | {\"ID\":":           false,
			"UNLOCK S | " + strings.Repeat(" ", 64<<10) + infoA: false,
		} {
			clock.pass(time.Minute) // all that may be asked may be asked again
			states++
			address := fmt.Sprint(s.state, states)
			c.converse([]step{{"LOCK " + address, infoA, 200, ""}})
			exhaust(t, c)
			line, sent, _ := strings.Cut(request, " | ")
			if sent == "" && !strings.HasPrefix(line, "UNLOCK") && !strings.Contains(line, "/lock") {
				sent = body(1)
			}
			got := c.do(strings.Replace(line, " S", " "+address, 1), sent)
			if refused := got.status == 429; refused == passes {
				t.Errorf("%s, %.90s: %d %s; want it to pass: %t", s.name, request, got.status, got.body, passes)
			}
			if passes && got.status >= 300 && !(got.status == s.remove && strings.HasPrefix(line, "DELETE S?")) {
				t.Errorf("%s, %.90s: passes, and then %d %s", s.name, request, got.status, got.body)
			}
		}
	}
}

// The lock of another state, of another organization, or of one's own that was released,
// is none.
func TestRateLimitSparesNoOtherHolder(t *testing.T) {
	deps, _ := rateDeps(t)
	server := startServer(t, deps)
	c, other := newCaller(t, server, acme, acmeKey), newCaller(t, server, globex, globexKey)
	c.converse([]step{{"LOCK /api/v1/state/mine", infoA, 200, ""}})
	other.converse([]step{{"LOCK /api/v1/state/x", infoB, 200, ""}})
	exhaust(t, c)
	c.converse([]step{
		{"POST /api/v1/state/x?ID=a-1", body(1), 429, ""},
		{"POST /api/v1/state/x?ID=b-2", body(1), 429, ""},
		{"UNLOCK /api/v1/state/x", infoB, 429, ""},
		{"POST /api/v1/state/mine?ID=a-1", body(1), 200, ""},
		{"UNLOCK /api/v1/state/mine", infoA, 200, ""},
		{"UNLOCK /api/v1/state/mine", infoA, 429, ""},
		{"POST /api/v1/state/mine?ID=a-1", body(2), 429, ""},
	})
}

// stepIn is a store that lets a test act behind a Head, before anybody learns of it.
type stepIn struct {
	state.Store
	act atomic.Pointer[func(state.Ref)] // nil does nothing
}

func (s *stepIn) Head(ctx context.Context, ref state.Ref) (state.Head, error) {
	head, err := s.Store.Head(ctx, ref)
	if act := s.act.Load(); act != nil {
		(*act)(ref)
	}
	return head, err
}

// Scenario: the lock is forced open just after its holder was found to hold it. Check: the
// write is refused as ever; that it was let past the limit is worth nothing.
func TestLockReleasedAfterTheLimit(t *testing.T) {
	deps, _ := rateDeps(t)
	log := slog.New(slog.DiscardHandler)
	store := &stepIn{Store: memory.New(1 << 20)}
	deps.States = state.NewService(store, state.DefaultPolicies{}, time.Now, log)
	c := newCaller(t, startServer(t, deps), acme, acmeKey)
	c.converse([]step{{"POST /api/v1/state/x", body(1), 200, ""}, {"LOCK /api/v1/state/x", infoA, 200, ""}})
	exhaust(t, c)
	release := func(ref state.Ref) {
		_, err := store.Update(context.Background(), ref, nil,
			func(state.Head) (state.Change, error) { return state.Change{Release: true}, nil })
		if err != nil {
			t.Error(err)
		}
	}
	store.act.Store(&release)
	c.converse([]step{{"POST /api/v1/state/x?ID=a-1", body(2), 409, "lock_not_held"}})
	got, err := deps.States.Get(t.Context(), auth.Principal{Org: acme, Grant: auth.Grant{Role: auth.Owner}}, "x")
	if err != nil || string(got.Body) != body(1) {
		t.Errorf("%s, %v; want what was there before", got.Body, err)
	}
}

// Holders write while a flood of wrong IDs of the same organization goes on.
func TestHolderWithinAFlood(t *testing.T) {
	deps, _ := rateDeps(t)
	server := startServer(t, deps)
	c := newCaller(t, server, acme, acmeKey)
	c.converse([]step{{"LOCK /api/v1/state/x", infoA, 200, ""}})
	exhaust(t, c)
	stop, flood := make(chan struct{}), sync.WaitGroup{}
	for range 8 {
		flood.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if got := c.do("POST /api/v1/state/x?ID="+uuid.NewString(), body(1)); got.status != 429 {
					t.Errorf("a wrong ID: %d", got.status)
				}
			}
		})
	}
	for serial := range 50 {
		c.converse([]step{{"POST /api/v1/state/x?ID=a-1", body(serial + 1), 200, ""}})
	}
	close(stop)
	flood.Wait()
	c.converse([]step{{"UNLOCK /api/v1/state/x", infoA, 200, ""}})
	metrics := caller{t: t, url: server.URL, client: c.client}.do("GET /metrics", "").body
	has(t, metrics, `holdfast_limits_spared_total\{reason="rate"\} 51`)
	has(t, metrics, `holdfast_limits_refused_total\{reason="rate"\} [1-9][0-9]*`)
}

// What is saved up goes first, for reads and locks alone, and whoami, headers and the log tell how
// near the limit is all the while.
func TestSavedUpIsShown(t *testing.T) {
	deps, clock := rateDeps(t)
	deps.Limits.Saved, deps.Limits.Requests = time.Minute, 0
	log := newJournal(t, &deps)
	c := newCaller(t, startServer(t, deps), acme, acmeKey)
	stands := func(left, saved int) {
		t.Helper()
		want := fmt.Sprintf(`"state_rate_left":%d,"state_rate_saved":%d`, left, saved)
		if got := c.do("GET /api/v1/whoami", ""); !strings.Contains(got.body, want) {
			t.Errorf("%s; want %s", got.body, want)
		}
	}
	stands(5, 5)
	for left := 9; left >= 5; left-- {
		if got := c.do("GET /api/v1/state/x", ""); got.status != 404 || got.header.Get("RateLimit-Remaining") != "" {
			t.Errorf("%d left: %d %v", left, got.status, got.header)
		}
	}
	stands(5, 0)
	c.converse([]step{{"GET /api/v1/states", "", 200, ""}, {"POST /api/v1/state/x", body(1), 200, ""},
		{"LOCK /api/v1/state/x", infoA, 200, ""}, {"GET /api/v1/state/x", "", 200, ""}})
	stands(1, 0)
	if got := c.do("GET /api/v1/state/x", ""); got.header.Get("RateLimit-Remaining") != "0" || got.status != 200 {
		t.Errorf("the last one: %d %v", got.status, got.header)
	}
	if got := c.do("GET /api/v1/state/x", ""); got.status != 429 {
		t.Errorf("one more: %d", got.status)
	}
	if !strings.Contains(log.String(),
		`"rate_left":"1 of 5"`) { // of the request before; the last one's line may still be written
		t.Errorf("logged %s", log.String())
	}
	clock.pass(90 * time.Second) // a minute for all, and half a minute's worth beside it
	stands(5, 2)
	for range 5 {
		c.do("GET /api/v1/states", "")
	}
	c.converse([]step{{"GET /api/v1/states", "", 429, ""}, {"GET /api/v1/state/x", "", 200, ""},
		{"LOCK /api/v1/state/x", infoA, 200, ""}, {"LOCK /api/v1/state/x", infoA, 429, ""}})
}
