package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/bench"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

func TestBench(t *testing.T) {
	s := newShell(t)
	s.serving(reports(t))
	code, out, errs := s.run("bench", "--mix", "cycle,plan,read,upload", "--size", "10KB", "--connections", "1,2",
		"--count", "4", "--warmup", "0s", "--json")
	var results []bench.Result
	if err := json.Unmarshal([]byte(out), &results); err != nil || code != exitOK || len(results) != 8 {
		t.Fatalf("exit %d, %v, stderr %q\n%s", code, err, errs, out)
	}
	for _, r := range results {
		if r.Operations != 4 || r.Failed() != 0 || r.Latency.P99 <= 0 || (r.Size == 10_000) == (r.Mix == bench.Upload) {
			t.Errorf("%+v", r)
		}
	}
	table := s.must("bench", "--size", "10KB", "--connections", "2", "--count", "4", "--warmup", "0s")
	lines := strings.Split(table, "\n")
	if want := "cycle 10 KB 2"; len(lines) != 3 || !strings.HasPrefix(strings.Join(strings.Fields(lines[1]), " "), want) {
		t.Errorf("printed\n%s", table)
	}
}

// front starts a server that stands before another, and returns its address.
func (s *shell) front(handler http.HandlerFunc) string {
	server := httptest.NewServer(handler)
	s.t.Cleanup(server.Close)
	return server.URL
}

func TestBenchDeletesItsStates(t *testing.T) {
	s := newShell(t)
	var last atomic.Value
	router := s.serving(reports(t)).Config.Handler
	front := s.front(func(w http.ResponseWriter, r *http.Request) {
		last.Store(r.Method)
		router.ServeHTTP(w, r)
	})
	for _, keep := range []bool{false, true} {
		args := []string{"bench", "--addr", front, "--mix", "plan", "--size", "10KB", "--connections", "1", "--count", "2",
			"--warmup", "0s"}
		if keep {
			args = append(args, "--keep")
		}
		s.must(args...)
		if (last.Load() == http.MethodDelete) == keep {
			t.Errorf("with --keep=%v the last request is a %s", keep, last.Load())
		}
	}
}

func TestBenchTellsOfFailures(t *testing.T) {
	s := newShell(t)
	router := s.serving(reports(t)).Config.Handler
	front := s.front(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.URL.Path != "/api/v1/whoami" {
			http.Error(w, "enough", http.StatusServiceUnavailable)
			return
		}
		router.ServeHTTP(w, r)
	})
	code, out, errs := s.run("bench", "--addr", front, "--mix", "read", "--size", "10KB", "--connections", "1",
		"--duration", "50ms", "--warmup", "0s")
	if code != exitFailed || !strings.Contains(out, "× GET 503") ||
		!strings.Contains(errs, "The server's limits were reached") || !strings.Contains(errs, "failed") {
		t.Errorf("exit %d, printed\n%s\n%s", code, out, errs)
	}
}

func TestBenchTakesKeysInTurn(t *testing.T) {
	s := newShell(t)
	var user atomic.Value
	front := s.front(func(w http.ResponseWriter, r *http.Request) {
		org, _, _ := r.BasicAuth()
		if r.URL.Path == "/api/v1/whoami" {
			_ = json.NewEncoder(w).Encode(api.Identity{OrgID: uuid.MustParse(org)})
			return
		}
		user.Store(org)
		http.Error(w, "no", http.StatusForbidden)
	})
	file := s.write("keys", auth.NewKey(acme)+"\n\n"+auth.NewKey(globex)+"\n")
	s.refuse(exitFailed, "POST 403", "bench", "--addr", front, "--keys", file, "--connections", "1")
	if user.Load() != acme.String() {
		t.Errorf("asked as %v", user.Load())
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	s.refuse(exitFailed, "can be read by others", "bench", "--keys", file)
	s.refuse(exitFailed, "not a key", "bench", "--keys", s.write("wrong", "secret\n"))
	s.refuse(exitFailed, "has no keys", "bench", "--keys", s.write("none", "\n"))
}

// limitedTo starts a server on which an organization may send so many requests a minute to states.
func (s *shell) limitedTo(requests int) *memory.Store {
	store, key := memory.New(1<<20), auth.NewKey(acme)
	log := slog.New(slog.DiscardHandler)
	router, err := handlers.NewRouter(handlers.Deps{
		States:    state.NewService(store, state.DefaultPolicies{}, time.Now, log),
		Inventory: inventory.NewService(reports(s.t)),
		Verifier:  oneKey{key}, Log: log, Now: time.Now, MaxStateBytes: 1 << 20,
		Limits: middleware.Limits{States: requests, Requests: requests},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.asking(router, key)
	return store
}

// A benchmark says which limit is in its way, and goes on within it only when it is told to: then
// it leaves a share to the organization's others.
func TestBenchKeepsWithinLimits(t *testing.T) {
	s := newShell(t)
	s.limitedTo(200)
	args := []string{"bench", "--size", "10KB", "--connections", "2", "--duration", "30s", "--warmup", "0s"}
	s.refuse(exitUsage, someOrg+" may send 200 requests to states a minute, and has 200 left", args...)
	s.refuse(exitUsage, "put `state_rate_limit = off` into the organization's section of auth.cfg, or "+
		"limits.state_rate_limit", args...)
	s.refuse(exitUsage, "uploads a minute", append(args, "--mix", "upload")...)
	s.refuse(exitUsage, "would take 200 of 200 requests to states a minute; take fewer",
		append(args, "--within-limits", "--connections", "100")...)
	if code, out, errs := s.run(append(args, "--within-limits")...); code != exitOK || !strings.Contains(out, "cycle") ||
		!strings.Contains(errs, "Stopped: less than a quarter") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	if out := s.must("state", "list"); strings.Contains(out, "bench-") {
		t.Errorf("left behind:\n%s", out)
	}
	s.refuse(exitFailed, "which others may need: come again in a minute", append(args, "--within-limits")...)
	s.interactive, s.stdin = true, "no\n"
	if code, _, errs := s.run(args...); code != exitFailed || !strings.Contains(errs, "Go on within it") ||
		!strings.Contains(errs, "nothing was done") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// Whoever interrupts a benchmark finds nothing of it left.
func TestInterruptedBenchCleansUp(t *testing.T) {
	s := newShell(t)
	router := s.serving(reports(t)).Config.Handler
	ctx, interrupt := context.WithCancel(t.Context())
	var seen, locks atomic.Int64
	front := s.front(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "LOCK" && locks.Add(1) == 5 {
			interrupt()
		}
		seen.Add(1)
		router.ServeHTTP(w, r)
	})
	var out, errs strings.Builder
	code := run(ctx, []string{"bench", "--addr", front, "--size", "10KB", "--connections", "3", "--duration", "1m",
		"--warmup", "0s"}, s.app(&out, &errs))
	if code != exitFailed || seen.Load() < 8 {
		t.Errorf("exit %d after %d requests, %s", code, seen.Load(), &errs)
	}
	if out := s.must("state", "list", "--json"); out != "" {
		t.Errorf("left behind:\n%s", out)
	}
	if out := s.must("lock", "list", "--json"); out != "" {
		t.Errorf("left behind:\n%s", out)
	}
}

func TestBenchRefuses(t *testing.T) {
	s := newShell(t)
	s.serving(reports(t))
	for args, want := range map[string]string{
		"--mix walk":                          `--mix: "walk" is not`,
		"--size 10M":                          `--size: "10M" is not a size`,
		"--size 1KB":                          "is not between 2 KB and 100 MB",
		"--size 1GB":                          "is not between 2 KB and 100 MB",
		"--connections 0":                     "--connections are 1 to 1024",
		"--connections 2000":                  "--connections are 1 to 1024",
		"--connections 1000 --size 10MB":      "in all at most 4000 MB",
		"--duration 2h":                       "at most 1h0m0s",
		"--duration 0s":                       "--duration is above 0",
		"--count -1":                          "--count are at least 0",
		"--mix=":                              "can't be empty",
		"--size=":                             "can't be empty",
		"--addr localhost --keys /dev/null/x": "the server's address",
	} {
		s.refuse(exitUsage, want, append([]string{"bench"}, strings.Fields(args)...)...)
	}
}
