package bench_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/bench"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

// oneKey lets in the holder of the test's key.
type oneKey struct{ key string }

func (k oneKey) Verify(_ context.Context, given auth.Credentials, _ auth.Client) (auth.Principal, error) {
	if given.Key != k.key {
		return auth.Principal{}, fault.New(fault.CredentialsWrong, "the organization or the key is wrong")
	}
	return auth.Principal{Org: given.Org, Grant: auth.Grant{Role: auth.Owner}}, nil
}

func someone() bench.Identity { return bench.Identity{Org: uuid.New(), Key: "some-key"} }

// serve starts a server with the real routes, and stores in memory.
func serve(t *testing.T, limits middleware.Limits) http.Handler {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	states, uploads := memory.New(1<<30), inventorytest.New()
	t.Cleanup(func() { _, _ = states.Close(), uploads.Close() })
	router, err := handlers.NewRouter(handlers.Deps{
		States: state.NewService(states, state.DefaultPolicies{}, time.Now, log), Inventory: inventory.NewService(uploads),
		Verifier: oneKey{"some-key"}, Log: log, Now: time.Now, MaxStateBytes: 16 << 20, Limits: limits,
	})
	if err != nil {
		t.Fatal(err)
	}
	return router
}

func listen(t *testing.T, handler http.Handler) bench.Target {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return bench.Target{Address: server.URL, Identities: []bench.Identity{someone(), someone()}}
}

// open opens a load that the test closes.
func open(t *testing.T, target bench.Target, o bench.Options) *bench.Load {
	t.Helper()
	if o.Size == 0 {
		o.Size = 10_000
	}
	o.Name, o.Timeout = "bench", 30*time.Second
	load, err := bench.Open(t.Context(), target, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(load.Close)
	return load
}

// measure counts so many operations of a load.
func measure(t *testing.T, load *bench.Load, count int64) bench.Result {
	t.Helper()
	result, err := load.Run(t.Context(), bench.Window{Duration: 10 * time.Second, Count: count})
	if err != nil {
		t.Fatal(err)
	}
	return result
}
