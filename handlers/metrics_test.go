package handlers_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/inventory"
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
		owner.do("POST /upload", `{`+words+`,"instances":[{"resource_name":"a"},{"resource_name":"b"}]}`, "Idempotency-Key: k")
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
		`holdfast_http_request_duration_seconds_count\{method="POST",route="/upload",status="2xx"\} 2`,
		`holdfast_http_request_duration_seconds_count\{method="POST",route="/upload",status="4xx"\} 1`,
		`holdfast_http_request_duration_seconds_bucket\{method="GET",route="/api/v1/state/:name",status="4xx",le="60"\} 1`,
		`holdfast_http_request_duration_seconds_count\{method="GET",route="none",status="4xx"\} 1`,
		`holdfast_http_request_duration_seconds_count\{method="other",route="none",status="4xx"\} 1`,
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
	if strings.Contains(got, "holdfast_uploads_backlog") || strings.Contains(got, "dead_letters") || strings.Contains(got, "sides_differ") {
		t.Error("a store with one side has a backlog")
	}
}

func TestMetricsOfDegradedUploads(t *testing.T) {
	deps := testDeps(t)
	deps.Inventory = inventory.NewService(ailing{fault: fault.New(fault.StoreDegraded, "behind")})
	got := newCaller(t, startServer(t, deps), uuid.Nil, "").do("GET /metrics", "").body
	has(t, got, `holdfast_uploads_degraded 1`)
	has(t, got, `holdfast_uploads_backlog\{side="csv"\} 0`)
	has(t, got, `holdfast_uploads_backlog\{side="mysql"\} 7`)
	has(t, got, `holdfast_uploads_ahead_seconds 0`)
	has(t, got, `holdfast_uploads_dead_letters\{side="csv"\} 2`)
	has(t, got, `holdfast_uploads_dead_letters\{side="mysql"\} 0`)
	has(t, got, `holdfast_uploads_sides_differ 1`)
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
		`holdfast_notices_total\{outcome="delivered"\} 7`, `holdfast_notices_total\{outcome="failed"\} 5`, `holdfast_notices_total\{outcome="dropped"\} 2`,
		`holdfast_notices_waiting 3`, `holdfast_notices_oldest_seconds 90`,
	} {
		has(t, scrape(), line)
	}
	counts = handlers.NoticeCounts{}
	has(t, scrape(), `holdfast_notices_oldest_seconds 0`)
}
