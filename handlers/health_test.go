package handlers_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/holdfast/holdfast/fault"
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
	deps.States = state.NewService(fullStore{memory.New(1 << 20)}, time.Now, slog.New(slog.DiscardHandler))
	newCaller(t, startServer(t, deps), acme, acmeKey).converse([]step{
		{"GET /readyz", "", 503, "no space left"},
		{"GET /livez", "", 200, "alive"},
		{"POST /api/v1/state/x", body(1), 507, "store_full"},
	})
}
