package handlers_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage"
)

// discard is an answer that nobody reads.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

// BenchmarkRead is a GET of a warm state of 10 kB from the durable store, without the
// network and bcrypt, with limits and without.
func BenchmarkRead(b *testing.B) {
	all := middleware.Limits{Requests: 1e9, States: 1e9, InFlight: 100, Memory: middleware.NewMemory(512 << 20),
		Pace: middleware.Pace{Silence: time.Minute, MinRate: 1 << 10}}
	b.Run("limited", func(b *testing.B) { benchmarkRead(b, all) })
	b.Run("unlimited", func(b *testing.B) { benchmarkRead(b, middleware.Limits{}) })
}

func benchmarkRead(b *testing.B, limits middleware.Limits) {
	log := slog.New(slog.DiscardHandler)
	settings, err := configs.Load(configs.Sources{Environ: []string{"STORAGE_PATH=" + b.TempDir()}})
	if err != nil {
		b.Fatal(err)
	}
	store, err := storage.OpenStates(b.Context(), settings, log)
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	router, err := handlers.NewRouter(handlers.Deps{States: state.NewService(store, state.DefaultPolicies{}, time.Now,
		log).Within(limits.Memory), Verifier: testKeys(),
		Log: log, Now: time.Now, MaxStateBytes: maxStateBytes, Limits: limits})
	if err != nil {
		b.Fatal(err)
	}
	ask := func(method, body string) {
		r := httptest.NewRequest(method, "/api/v1/state/x", strings.NewReader(body))
		r.SetBasicAuth(acme.String(), acmeKey)
		router.ServeHTTP(discard{http.Header{}}, r)
	}
	ask("POST", `{"serial":1,"lineage":"5ad8","filler":"`+strings.Repeat("x", 10_000)+`"}`)
	b.ReportAllocs()
	for b.Loop() {
		ask("GET", "")
	}
}
