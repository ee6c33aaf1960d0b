package handlers_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

func TestHealth(t *testing.T) {
	c := newCaller(t, startServer(t, testDeps(t)), uuid.Nil, "")
	c.converse([]step{
		{"GET /health", "", 200, `={"service":"holdfast","status":"healthy","version":"test"}`},
		{"GET /livez", "", 200, "alive"},
		{"GET /readyz", "", 200, "ready"},
	})
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
	deps.States = state.NewService(fullStore{memory.New(1 << 20)}, state.DefaultPolicies{}, time.Now, slog.New(slog.DiscardHandler))
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

func (ailing) DeadLetterCounts() map[string]int64 { return map[string]int64{"csv": 2, "mysql": 0} }

func (ailing) SidesDiffer() bool { return true }

func TestReadyzOfUploads(t *testing.T) {
	for _, test := range []struct {
		fault  error
		status int
		body   string
	}{
		{nil, 200, `={"status":"ready"}`},
		{fault.New(fault.StoreDegraded, "mysql is behind by 7 requests"), 200, `={"reason":"mysql is behind by 7 requests","status":"degraded"}`},
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
