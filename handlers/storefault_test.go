package handlers_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

// brokenStore fails in every call, in the way that fail says. What it returns beside the
// error looks like good data, which must not be served.
type brokenStore struct {
	state.Store
	fail func() error
}

func (s brokenStore) Current(context.Context, state.Ref) (state.Snapshot, error) {
	return state.Snapshot{Version: state.Version{Number: 1}, Body: []byte(body(1))}, s.fail()
}

func (s brokenStore) Head(context.Context, state.Ref) (state.Head, error) {
	return state.Head{}, s.fail()
}

func (s brokenStore) Update(context.Context, state.Ref, []byte, state.Decide) (state.Head, error) {
	return state.Head{Version: state.Version{Number: 1}}, s.fail()
}

func (s brokenStore) Version(context.Context, state.Ref, uint64) (state.Snapshot, error) {
	return s.Current(context.Background(), state.Ref{})
}

func (s brokenStore) Purge(context.Context, state.Ref, uint64, audit.Event) error { return s.fail() }

func (s brokenStore) States(context.Context, uuid.UUID, state.StatesQuery) (state.Page, error) {
	return state.Page{States: []state.Listed{{Name: "x"}}}, s.fail()
}

func (s brokenStore) Versions(context.Context, state.Ref, uint64, int) ([]state.Version, error) {
	return []state.Version{{Number: 1}}, s.fail()
}

func (s brokenStore) Candidates(context.Context, state.Ref, string, int) ([]state.Candidate, error) {
	return []state.Candidate{{ID: someCandidate}}, s.fail()
}

func (s brokenStore) Candidate(context.Context, state.Ref, string) (state.CandidateBody, error) {
	found := state.Candidate{ID: someCandidate, Status: state.Open}
	return state.CandidateBody{Candidate: found, Body: []byte(body(1))}, s.fail()
}

func (s brokenStore) Chain(context.Context, uuid.UUID, uint64, int) (audit.Chain, []audit.Link, error) {
	return audit.Chain{}, nil, s.fail()
}

func (s brokenStore) Events(context.Context, uuid.UUID, audit.Query) (audit.Page, error) {
	return audit.Page{Events: []audit.Event{{Sequence: 1}}}, s.fail()
}

func (s brokenStore) Record(context.Context, audit.Event) error { return s.fail() }

func (s brokenStore) Ready(context.Context) error { return s.fail() }

func brokenDeps(t *testing.T, fail func() error) handlers.Deps {
	t.Helper()
	deps := testDeps(t)
	store := memory.New(1 << 20)
	t.Cleanup(func() { _ = store.Close() })
	deps.States = state.NewService(brokenStore{store, fail}, state.DefaultPolicies{}, time.Now,
		slog.New(slog.DiscardHandler))
	return deps
}

// storeFault is one way for a store to fail, and the code that clients must see.
type storeFault struct {
	name string
	fail func() error
	code fault.Code
}

// secretCause stands in errors and panics, and must reach no client.
const secretCause = "secret cause"

func storeFaults() []storeFault {
	fails := func(err error) func() error { return func() error { return err } }
	return []storeFault{
		{"unavailable", fails(fault.New(fault.StoreUnavailable, "the store is closed")), fault.StoreUnavailable},
		{"full", fails(fault.Wrap(errors.New(secretCause), fault.StoreFull, "the disk is full")), fault.StoreFull},
		{"corrupt", fails(fault.New(fault.StateCorrupt, "the digest does not match")), fault.StateCorrupt},
		{"wrapped", fails(fmt.Errorf("%s: %w", secretCause, fault.New(fault.StateCorrupt, "damaged"))), fault.StateCorrupt},
		{"unknown", fails(errors.New(secretCause)), fault.InternalError},
		{"file not there", fails(fmt.Errorf("%s: %w", secretCause, fs.ErrNotExist)), fault.InternalError},
		{"canceled", fails(context.Canceled), fault.Interrupted},
		{"out of time", fails(fmt.Errorf("%s: %w", secretCause, context.DeadlineExceeded)), fault.Interrupted},
		{"panic", func() error { panic(secretCause) }, fault.InternalError},
		{"panic with an error", func() error { panic(fault.New(fault.StateNotFound, secretCause)) }, fault.InternalError},
	}
}

const someCandidate = "0123456789abcdef"

// both is a good state and a good lock info at once.
const both = `{"serial":1,"lineage":"5ad8","ID":"a-1","Who":"ada@engine"}`

// A client takes 404 and 204 for "there is no state" and plans to create everything anew,
// and an empty 200 likewise. So no trouble of the store may ever look like one of these.
func TestTroubleOfTheStoreIsNeverAnAbsentState(t *testing.T) {
	for _, f := range storeFaults() {
		t.Run(f.name, func(t *testing.T) {
			deps := brokenDeps(t, f.fail)
			c := newCaller(t, startServer(t, deps), acme, acmeKey)
			for _, request := range stateRequests(t, deps) {
				for _, header := range []string{"If-None-Match: *", "Accept: */*"} {
					wantFailure(t, request.line, c.do(request.line, request.body, header), f.code)
				}
			}
		})
	}
}

// request is a line "METHOD /path" and a body that get as far as the store.
type request struct{ line, body string }

// stateRequests calls every route that there is for states, with and without a lock ID.
func stateRequests(t *testing.T, deps handlers.Deps) []request {
	t.Helper()
	var requests []request
	for _, route := range routes(t, deps) {
		switch method, path, _ := strings.Cut(route, " "); {
		case path == "/api/v1/states" || path == "/api/v1/locks" || path == "/api/v1/expectations" ||
			path == "/api/v1/audit" || path == "/api/v1/audit/chain":
			requests = append(requests, request{route, ""})
		case !strings.Contains(path, "/state/"):
		case takesOrder(path):
			requests = append(requests, request{route, `{"reason":"a test"}`})
		case strings.HasSuffix(path, "/expect") && method == "POST":
			requests = append(requests, request{route, wireExpect})
		case strings.HasSuffix(path, "/expect") && method == "DELETE":
			requests = append(requests, request{route + "?reason=test", ""})
		case strings.HasSuffix(path, "/import"):
			requests = append(requests, request{route + "?time=2024-01-01T00:00:00Z&source=elsewhere", both})
		case strings.HasSuffix(path, "/candidates") && method == "POST":
			requests = append(requests, request{route, both})
		case strings.Contains(path, "/versions/") && method == "DELETE":
			requests = append(requests, request{route + "?reason=test", ""})
		case method == "GET" && (strings.HasSuffix(path, "/x") || strings.HasSuffix(path, "/p")):
			requests = append(requests, request{route, ""}, request{route + "?view=outputs", ""},
				request{route + "?view=redacted", ""}, request{route + "?version=1", ""})
		case method == "GET" || strings.HasSuffix(path, "/undelete"):
			requests = append(requests, request{route, ""})
		default:
			requests = append(requests, request{route, both}, request{route + "?ID=a-1", both})
			if method == "UNLOCK" || method == "DELETE" {
				requests = append(requests, request{route, ""}, request{route + "?ID=a-1", ""})
			}
		}
	}
	if len(requests) < 55 {
		t.Fatalf("only %d requests: %q", len(requests), requests)
	}
	return requests
}

// takesOrder reports whether the body says what to do and why, instead of being a state.
func takesOrder(path string) bool {
	for _, verb := range []string{"/rollback", "/promote", "/discard", "/lock/release"} {
		if strings.HasSuffix(path, verb) {
			return true
		}
	}
	return false
}

func wantFailure(t *testing.T, request string, got answer, code fault.Code) {
	t.Helper()
	var failure api.Failure
	if err := json.Unmarshal([]byte(got.body), &failure); err != nil {
		t.Errorf("%s: %d with the body %q, which is no failure: %v", request, got.status, got.body, err)
		return
	}
	if want := middleware.StatusOf(code.Kind()); got.status != want || got.status < 500 ||
		failure.Code != api.ErrorCode(code) {
		t.Errorf("%s: %d %s; want %d %s", request, got.status, failure.Code, want, code)
	}
	if failure.Status != "error" || failure.Message == "" || failure.RequestID != got.header.Get("X-Request-ID") {
		t.Errorf("%s: incomplete failure %+v", request, failure)
	}
	if strings.Contains(got.body, secretCause) {
		t.Errorf("%s: the answer shows the cause: %s", request, got.body)
	}
	for _, name := range []string{"ETag", "X-Holdfast-Version", "X-Holdfast-Serial"} {
		if value := got.header.Get(name); value != "" {
			t.Errorf("%s: %s: %s beside a failure", request, name, value)
		}
	}
}

// To a balancer, whatever the store has means "not this server".
func TestReadyzWithTrouble(t *testing.T) {
	for _, f := range storeFaults() {
		got := newCaller(t, startServer(t, brokenDeps(t, f.fail)), acme, acmeKey).do("GET /readyz", "")
		want := http.StatusServiceUnavailable
		if strings.HasPrefix(f.name, "panic") {
			want = http.StatusInternalServerError
		}
		if got.status != want || !strings.Contains(got.body, `"code":"`+string(f.code)+`"`) ||
			strings.Contains(got.body, secretCause) {
			t.Errorf("%s: %d %s; want %d %s without the cause", f.name, got.status, got.body, want, f.code)
		}
	}
}
