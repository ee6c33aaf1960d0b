package handlers_test

import (
	"context"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

// has asserts that a line of the metrics matches.
func has(t *testing.T, metrics, line string) {
	t.Helper()
	if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(metrics) {
		t.Errorf("no line %s in\n%s", line, metrics)
	}
}

func TestMetrics(t *testing.T) {
	server := startServer(t, testDeps(t))
	owner := newCaller(t, server, acme, acmeKey)
	for range 2 {
		owner.do("POST /upload", `{`+words+`,"instances":[{"resource_name":"a"},{"resource_name":"b"}]}`,
			"Idempotency-Key: k")
	}
	owner.converse([]step{
		{"POST /upload", `{}`, 400, ""},
		{"GET /api/v1/state/payroll", "", 404, ""},
		{"GET /api/v1/payroll", "", 400, ""},
		{"BREW /payroll", "", 400, ""},
	})
	got := newCaller(t, server, uuid.Nil, "").do("GET /metrics", "").body
	for _, line := range []string{
		`holdfast_build_info\{goversion="go1[^"]*",version="test"\} 1`,
		`holdfast_uploads_instances_total 2`,
		`holdfast_uploads_degraded 0`,
		`holdfast_http_request_duration_seconds_count\{route="/upload"\} 3`,
		`holdfast_http_request_duration_seconds_bucket\{route="/api/v1/state/:name",le="60"\} 1`,
		`holdfast_http_request_duration_seconds_count\{route="none"\} 2`,
		`holdfast_http_responses_total\{status="2xx"\} 2`,
		`holdfast_http_responses_total\{status="4xx"\} 4`,
		`holdfast_http_responses_total\{status="5xx"\} 0`,
		`go_goroutines \d+`,
		`process_open_fds \d+`,
	} {
		has(t, got, line)
	}
	for _, secret := range []string{acme.String(), "payroll", "BREW", "Acme"} {
		if strings.Contains(got, secret) {
			t.Errorf("the metrics tell of %s", secret)
		}
	}
	if strings.Contains(got, "holdfast_uploads_backlog") || strings.Contains(got, "uploads_refused") {
		t.Error("a store with one side has a backlog")
	}
}

// seriesOf counts what a monitoring system has to keep of a scrape.
func seriesOf(scrape string) (n int) {
	for line := range strings.Lines(scrape) {
		if !strings.HasPrefix(line, "#") {
			n++
		}
	}
	return n
}

// Each route has as many series as its histogram has buckets, however it is asked and answered.
func TestSeriesAreFew(t *testing.T) {
	deps := testDeps(t)
	server := startServer(t, deps)
	owner, stranger := newCaller(t, server, acme, acmeKey), newCaller(t, server, uuid.Nil, "")
	scrape := func() string { return stranger.do("GET /metrics", "").body }
	scrape()
	empty := seriesOf(scrape())
	patterns := map[string]bool{}
	router, err := handlers.NewRouter(deps)
	if err != nil {
		t.Fatal(err)
	}
	for _, route := range router.Routes() {
		patterns[route.Path] = true
	}
	walk := func(c caller) {
		for _, route := range routes(t, deps) {
			if !strings.Contains(route, "/follow") && !strings.Contains(route, "/claim") {
				c.do(route, infoB)
			}
		}
		c.do("GET /nowhere", "")
	}
	walk(stranger)
	once := seriesOf(scrape())
	walk(owner)
	t.Logf("%d series without requests, %d after a walk over the %d routes of %d addresses", empty, once,
		len(router.Routes()), len(patterns))
	if again := seriesOf(scrape()); again != once {
		t.Errorf("%d series, and after other answers %d", once, again)
	}
	if most := empty + 11*(len(patterns)+1); once > most {
		t.Errorf("%d series, want %d at most", once, most)
	}
}

// askedOnly is a state store that knows whether anything but its totals was asked for.
type askedOnly struct {
	state.Store
	totals, others atomic.Int64
}

func (a *askedOnly) Totals(ctx context.Context) (state.Totals, error) {
	a.totals.Add(1)
	return a.Store.Totals(ctx)
}

func (a *askedOnly) All(ctx context.Context, after state.Ref, limit int) ([]state.Located, error) {
	a.others.Add(1)
	return a.Store.All(ctx, after, limit)
}

func (a *askedOnly) States(ctx context.Context, org uuid.UUID, q state.StatesQuery) (state.Page, error) {
	a.others.Add(1)
	return a.Store.States(ctx, org, q)
}

func (a *askedOnly) Head(ctx context.Context, ref state.Ref) (state.Head, error) {
	a.others.Add(1)
	return a.Store.Head(ctx, ref)
}

func (a *askedOnly) Usage(ctx context.Context, org uuid.UUID) (int64, error) {
	a.others.Add(1)
	return a.Store.Usage(ctx, org)
}

// A scrape asks the store for its totals once, whatever there is, and for nothing else.
func TestScrapeCountsNothing(t *testing.T) {
	deps, under, _ := testDepsWithoutResources(t)
	store := &askedOnly{Store: under}
	deps.States = state.NewService(store, state.DefaultPolicies{}, deps.Now, deps.Log)
	server := startServer(t, deps)
	for i := range 100 {
		org := uuid.New()
		p := auth.Principal{Org: org, Grant: auth.Grant{Role: auth.Owner}}
		if _, err := deps.States.Put(t.Context(), p, "x", state.Write{Body: []byte(body(i + 1))}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := deps.States.Lock(t.Context(), auth.Principal{Org: acme, Grant: auth.Grant{Role: auth.Owner}}, "y",
		state.LockInfo{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	store.others.Store(0)
	got := newCaller(t, server, uuid.Nil, "").do("GET /metrics", "").body
	if totals, others := store.totals.Load(), store.others.Load(); totals != 1 || others != 0 {
		t.Errorf("the totals were asked for %d times, anything else %d times", totals, others)
	}
	has(t, got, `holdfast_states 100`)
	has(t, got, `holdfast_locks 1`)
}

// The age of the oldest lock is that of the one that was granted first, and locks that others ended
// are counted by how.
func TestMetricsOfLocks(t *testing.T) {
	deps, clock := rateDeps(t)
	deps.Limits = middleware.Limits{}
	store := memory.New(1 << 20)
	deps.States = state.NewService(store, state.DefaultPolicies{}, clock.now, deps.Log)
	server := startServer(t, deps)
	owner := newCaller(t, server, acme, acmeKey)
	scrape := func(lines ...string) {
		t.Helper()
		got := newCaller(t, server, uuid.Nil, "").do("GET /metrics", "").body
		for _, line := range lines {
			has(t, got, line)
		}
	}
	scrape(`holdfast_states 0`, `holdfast_locks 0`, `holdfast_locks_oldest_seconds 0`,
		`holdfast_locks_ended_total\{how="forced"\} 0`)
	owner.converse([]step{{"LOCK /api/v1/state/x", infoA, 200, ""}})
	clock.pass(time.Hour)
	owner.converse([]step{{"LOCK /api/v1/state/y", infoB, 200, ""}})
	clock.pass(time.Minute)
	scrape(`holdfast_locks 2`, `holdfast_locks_oldest_seconds 36[56][0-9](\.[0-9]+)?`)
	owner.converse([]step{{"UNLOCK /api/v1/state/x", "", 200, ""}})
	scrape(`holdfast_locks 1`, `holdfast_locks_oldest_seconds (59|60)(\.[0-9]+)?`,
		`holdfast_locks_ended_total\{how="forced"\} 1`, `holdfast_locks_ended_total\{how="taken_over"\} 0`)
	owner.converse([]step{{"UNLOCK /api/v1/state/y", infoB, 200, ""}})
	scrape(`holdfast_locks 0`, `holdfast_locks_ended_total\{how="forced"\} 1`)
}

func TestMetricsOfDegradedUploads(t *testing.T) {
	deps := testDeps(t)
	deps.Inventory = inventory.NewService(ailing{fault: fault.New(fault.StoreDegraded, "behind")})
	got := newCaller(t, startServer(t, deps), uuid.Nil, "").do("GET /metrics", "").body
	has(t, got, `holdfast_uploads_degraded 1`)
	has(t, got, `holdfast_uploads_backlog\{side="csv"\} 0`)
	has(t, got, `holdfast_uploads_backlog\{side="mysql"\} 7`)
	has(t, got, `holdfast_uploads_ahead_seconds 0`)
	has(t, got, `holdfast_uploads_refused_total\{side="csv"\} 2`)
	has(t, got, `holdfast_uploads_refused_total\{side="mysql"\} 0`)
}

func TestMetricsOfNotices(t *testing.T) {
	deps := testDeps(t)
	now := time.Now()
	deps.Now = func() time.Time { return now }
	counts := handlers.NoticeCounts{Delivered: 7, Failed: 5, Dropped: 2, Waiting: 3, Oldest: now.Add(-90 * time.Second)}
	deps.Notices = func() handlers.NoticeCounts { return counts }
	server := startServer(t, deps)
	scrape := func() string { return newCaller(t, server, uuid.Nil, "").do("GET /metrics", "").body }
	for _, line := range []string{
		`holdfast_notices_total\{outcome="delivered"\} 7`, `holdfast_notices_total\{outcome="failed"\} 5`,
		`holdfast_notices_total\{outcome="dropped"\} 2`,
		`holdfast_notices_waiting 3`, `holdfast_notices_oldest_seconds 90`,
	} {
		has(t, scrape(), line)
	}
	counts = handlers.NoticeCounts{}
	has(t, scrape(), `holdfast_notices_oldest_seconds 0`)
}
