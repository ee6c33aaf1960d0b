package handlers_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/state"
)

// listPaths are all lists that a caller can ask for.
func listPaths() []string {
	return []string{
		"/api/v1/states?limit=1000", "/api/v1/folders?limit=1000", "/api/v1/locks?limit=1000", "/api/v1/audit?limit=1000",
		"/api/v1/state/s0/-/versions?limit=1000",
		"/api/v1/state/s0/-/candidates?limit=1000", "/api/v1/resources?limit=1000",
		"/api/v1/resources/coverage?status=unmatched&limit=1000",
		"/api/v1/resources/coverage", "/api/v1/data/summary",
	}
}

// watched is a store that looks at how much memory is acquired when a list is read.
type watched struct {
	state.Store
	memory *budget.Budget
	least  *int64 // when one was read since it was set to -1
}

func (w watched) look() { *w.least = w.memory.InUse() }

func (w watched) States(ctx context.Context, org uuid.UUID, q state.StatesQuery) (state.Page, error) {
	w.look()
	return w.Store.States(ctx, org, q)
}

func (w watched) Names(ctx context.Context, org uuid.UUID, prefix string, after state.Name,
	limit int) ([]state.Name, state.Name, error) {
	w.look()
	return w.Store.Names(ctx, org, prefix, after, limit)
}

func (w watched) Versions(ctx context.Context, ref state.Ref, before uint64, limit int) ([]state.Version, error) {
	w.look()
	return w.Store.Versions(ctx, ref, before, limit)
}

func (w watched) Candidates(ctx context.Context, ref state.Ref, after string, limit int) ([]state.Candidate, error) {
	w.look()
	return w.Store.Candidates(ctx, ref, after, limit)
}

func (w watched) Events(ctx context.Context, org uuid.UUID, q audit.Query) (audit.Page, error) {
	w.look()
	return w.Store.Events(ctx, org, q)
}

// taker is a reader that looks at how much memory is acquired when it is to take a piece.
type taker struct {
	*httptest.ResponseRecorder
	memory *budget.Budget
	used   []int64
	sizes  []int
}

func (w *taker) Write(p []byte) (int, error) {
	w.used, w.sizes = append(w.used, w.memory.InUse()), append(w.sizes, len(p))
	return w.ResponseRecorder.Write(p)
}

// listed is a server whose lists have something in them.
func listed(t *testing.T, memory *budget.Budget,
	withResources bool) (ask func(method, path, body string) *taker, read *int64) {
	t.Helper()
	deps, store, uploads := testDepsWithoutResources(t)
	read = new(int64)
	store = watched{store, memory, read}
	deps.States = state.NewService(store, state.DefaultPolicies{}, time.Now, deps.Log).Within(memory)
	deps.Inventory = inventory.NewService(uploads).Within(memory)
	deps.Limits.Memory = memory
	if withResources {
		deps.Resources = testResources(t, store, deps.States, uploads)
	}
	router, err := handlers.NewRouter(deps)
	if err != nil {
		t.Fatal(err)
	}
	ask = func(method, path, body string) *taker {
		w := &taker{ResponseRecorder: httptest.NewRecorder(), memory: memory}
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.SetBasicAuth(acme.String(), acmeKey)
		r.Header.Set("Content-Type", "application/json")
		router.ServeHTTP(w, r)
		return w
	}
	must := func(method, path, body string) {
		if got := ask(method, path, body); got.Code/100 != 2 {
			t.Fatalf("%s %s: %d %s", method, path, got.Code, got.Body)
		}
	}
	for i := range 12 {
		name := fmt.Sprint("/api/v1/state/s", i)
		must("POST", name, manyResources(i, 20))
		must("LOCK", name, fmt.Sprintf(`{"ID":"i%d","Info":"%s"}`, i, strings.Repeat("<", 5000)))
		must("POST", "/api/v1/state/s0/-/candidates?reason="+strings.Repeat("%3C", 900), manyResources(100+i, 1))
		must("POST", "/upload", fmt.Sprintf(`{"provider":"aws","category":"c","resource_type":"t%d%s","instances":[{"resource_name":"r","attributes":{}}]}`, i, strings.Repeat("y", 200)))
	}
	return ask, read
}

// manyResources is a state with so many resources.
func manyResources(serial, n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"mode":"managed","type":"t","name":"n%d","provider":"provider[\"registry.terraform.io/hashicorp/t\"]","instances":[{"attributes":{"id":"i%d-%d","text":"%s"}}]}`,
			i, serial, i, strings.Repeat("<", 900)))
	}
	return fmt.Sprintf(`{"version":4,"serial":%d,"lineage":"l","terraform_version":"1.9.0","outputs":{},"resources":[%s]}`,
		serial+1, strings.Join(all, ","))
}

// Vulnerability: readers who take little of many lists hold more memory than is counted.
// Check: what a list may take is acquired before it is read, what is still to be sent is
// counted as it is sent, and nothing is left of it in the end.
func TestListsAreCounted(t *testing.T) {
	memory := middleware.NewMemory(64 << 20)
	ask, read := listed(t, memory, true)
	for _, path := range listPaths() {
		*read = -1
		got := ask("GET", path, "")
		if got.Code != http.StatusOK || got.Header().Get("Content-Length") != fmt.Sprint(got.Body.Len()) {
			t.Errorf("%s: %d, %d bytes, %v", path, got.Code, got.Body.Len(), got.Header())
		}
		left, n := int64(got.Body.Len()), int64(got.Body.Len())
		for i, used := range got.used {
			if used < left || used > 2*n+8<<10 {
				t.Errorf("%s: %d bytes are counted when %d of %d are to be sent", path, used, left, n)
			}
			left -= int64(got.sizes[i])
		}
		if *read >= 0 && *read < 1_000_000 {
			t.Errorf("%s: a page is read with %d bytes acquired", path, *read)
		}
		if used := memory.InUse(); used != 0 {
			t.Errorf("%s: %d bytes are left", path, used)
		}
	}
}

// A list for which there is no memory waits, and is refused before anything of it is read.
func TestListsWithoutMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := middleware.NewMemory(64 << 20)
		ask, read := listed(t, memory, false)
		memory.Force(budget.Share{Org: globex}, 64<<20)
		for _, path := range listPaths() {
			if strings.Contains(path, "resources") || strings.Contains(path, "summary") {
				continue // not served here, or of unknown size before it is read
			}
			*read = -1
			got := ask("GET", path, "")
			if got.Code != http.StatusServiceUnavailable || !strings.Contains(got.Body.String(), `"overloaded"`) ||
				got.Header().Get("Retry-After") == "" {
				t.Errorf("%s: %d %v %.300s", path, got.Code, got.Header(), got.Body)
			}
			if *read >= 0 {
				t.Errorf("%s: was read all the same", path)
			}
		}
		memory.Release(budget.Share{Org: globex}, 64<<20)
		if got := ask("GET", listPaths()[0], ""); got.Code != http.StatusOK || memory.InUse() != 0 {
			t.Errorf("with memory: %d, %d bytes are in use", got.Code, memory.InUse())
		}
	})
}

// Vulnerability: a list asks for more memory than the server may ever have, and is refused for ever.
// Check: on an idle server every list is answered, however small the memory for bodies is.
func TestListsInLittleMemory(t *testing.T) {
	for _, size := range []int64{2 << 20, 4 << 20, 16 << 20} {
		memory := middleware.NewMemory(size)
		ask, _ := listed(t, memory, true)
		for _, path := range listPaths() {
			if got := ask("GET", path, ""); got.Code != http.StatusOK || memory.InUse() != 0 {
				t.Errorf("%s within %d: %d %.200s, %d bytes are left", path, size, got.Code, got.Body, memory.InUse())
			}
		}
	}
}
