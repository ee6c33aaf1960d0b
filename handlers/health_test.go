package handlers_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/quota"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

func TestHealth(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), uuid.Nil, "")
	c.converse([]step{
		{"GET /health", "", 200, `={"service":"holdfast","status":"healthy","version":"test"}`},
		{"GET /livez", "", 200, "alive"}, {"GET /", "", 200, "/api/v1/state/NAME"},
		{"GET /readyz", "", 200, "ready"},
	})
}

// HEAD is GET without the body, whatever the answer is.
func TestProbesAnswerHead(t *testing.T) {
	full := testDeps(t)
	full.States = state.NewService(fullStore{memory.New(1 << 20)}, state.DefaultPolicies{}, time.Now,
		slog.New(slog.DiscardHandler))
	for _, deps := range []handlers.Deps{testDeps(t), full} {
		c := newCaller(t, startServer(t, deps), uuid.Nil, "")
		for _, path := range []string{"/health", "/livez", "/readyz", "/metrics"} {
			get, head := c.do("GET "+path, ""), c.do("HEAD "+path, "")
			if head.status != get.status || head.body != "" {
				t.Errorf("HEAD %s: %d %q; GET is %d", path, head.status, head.body, get.status)
			}
			for _, name := range []string{"Content-Type", "Cache-Control", "X-Content-Type-Options"} {
				if head.header.Get(name) != get.header.Get(name) {
					t.Errorf("HEAD %s has %s %q; GET has %q", path, name, head.header.Get(name), get.header.Get(name))
				}
			}
		}
	}
}

// fullStore is a store on a disk without space.
type fullStore struct{ state.Store }

func (fullStore) Ready(context.Context) error {
	return fault.New(fault.StoreFull, "the store has no space left")
}

func (fullStore) Update(context.Context, state.Ref, []byte, state.Decide) (state.Head, error) {
	return state.Head{}, fault.New(fault.StoreFull, "the store has no space left")
}

func TestReadyzSaysWhyNot(t *testing.T) {
	deps := testDeps(t)
	deps.States = state.NewService(fullStore{memory.New(1 << 20)}, state.DefaultPolicies{}, time.Now,
		slog.New(slog.DiscardHandler))
	newCaller(t, startServer(t, deps), acme, acmeKey).converse([]step{
		{"GET /readyz", "", 503, "no space left"},
		{"GET /livez", "", 200, "alive"},
		{"POST /api/v1/state/x", body(1), 507, "store_full"},
	})
}

// ailing is an upload store whose Status says what is wrong.
type ailing struct {
	inventory.Store
	fault error
}

func (a ailing) Status(context.Context) error { return a.fault }

func (ailing) Backlog() map[string]int64 { return map[string]int64{"csv": 0, "mysql": 7} }

func (ailing) Refused() map[string]int64 { return map[string]int64{"csv": 2, "mysql": 0} }

func TestReadyzOfUploads(t *testing.T) {
	for _, test := range []struct {
		fault  error
		status int
		body   string
	}{
		{nil, 200, `={"status":"ready"}`},
		{fault.New(fault.StoreDegraded, "mysql is behind by 7 requests"), 200,
			`={"reason":"mysql is behind by 7 requests","status":"degraded"}`},
		{fault.New(fault.StoreUnavailable, "both sides are away"), 503, "both sides are away"},
		{fault.New(fault.StoreFull, "the disk is full"), 503, "store_full"},
		{errors.New("secret"), 503, `"code":"internal"`},
		{inventory.Off{}.Status(t.Context()), 200, "ready"},
	} {
		deps := testDeps(t)
		deps.Inventory = inventory.NewService(ailing{fault: test.fault})
		newCaller(t, startServer(t, deps), uuid.Nil, "").converse([]step{{"GET /readyz", "", test.status, test.body}})
	}
}

// While the disk has no more than its reserve left, ordinary writes are refused: /readyz says so, and stays 200, so
// that lock holders come through a balancer.
func TestReadyzInTheReserve(t *testing.T) {
	free := int64(2 << 20)
	deps, _, _ := testDepsWithoutResources(t)
	deps.Quota = quota.New(quota.Options{Limit: func(uuid.UUID) int64 { return quota.Unlimited },
		Free: func() (int64, error) { return free, nil }, Reserve: 4 << 20, Now: deps.Now,
		Log: slog.New(slog.DiscardHandler)})
	deps.States.WithQuota(deps.Quota)
	newCaller(t, startServer(t, deps), acme, acmeKey).converse([]step{
		{"LOCK /api/v1/state/x", infoA, 507, "reserve"},
		{"GET /readyz", "", 200, `"status":"degraded"`},
		{"GET /readyz", "", 200, "no more than its reserve left"},
	})
	deps.AuthStale = func() string { return "1h0m0s behind" }
	newCaller(t, startServer(t, deps), uuid.Nil, "").converse([]step{{"GET /readyz", "", 200, "make room; 1h0m0s behind"}})
}

// A server whose auth.cfg has no organization serves nobody, and is not ready.
func TestReadyzWithoutOrganizations(t *testing.T) {
	for nobody, want := range map[bool]step{true: {"GET /readyz", "", 503, "no organization"},
		false: {"GET /readyz", "", 200, `={"status":"ready"}`}} {
		deps := testDeps(t)
		deps.Nobody = func() bool { return nobody }
		newCaller(t, startServer(t, deps), uuid.Nil, "").converse([]step{want})
	}
}

// TestReadyzOfAnOldAuthFile: a node whose auth.cfg may be old serves on, and says so, also beside
// what else is wrong.
func TestReadyzOfAnOldAuthFile(t *testing.T) {
	for _, test := range []struct {
		stale  string
		fault  error
		status int
		body   string
	}{
		{"", nil, 200, `={"status":"ready"}`},
		{"1h0m0s behind", nil, 200, `={"auth_stale":"1h0m0s behind","reason":"1h0m0s behind","status":"degraded"}`},
		{"1h0m0s behind", fault.New(fault.StoreDegraded, "mysql is away"), 200,
			`={"auth_stale":"1h0m0s behind","reason":"mysql is away; 1h0m0s behind","status":"degraded"}`},
		{"1h0m0s behind", fault.New(fault.StoreFull, "the disk is full"), 503, "store_full"},
	} {
		deps := testDeps(t)
		deps.AuthStale = func() string { return test.stale }
		deps.Inventory = inventory.NewService(ailing{fault: test.fault})
		newCaller(t, startServer(t, deps), uuid.Nil, "").converse([]step{{"GET /readyz", "", test.status, test.body}})
	}
}
