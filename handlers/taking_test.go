package handlers_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/middleware"
)

// sizes is a store of records of these sizes, which tells what it has in memory for each.
type sizes struct {
	inventory.Off
	of   []int
	err  error       // comes after them
	each func(i int) // called when the record before was taken
}

func (s sizes) Records(_ context.Context, org uuid.UUID, query inventory.Query) iter.Seq2[inventory.Positioned, error] {
	return func(yield func(inventory.Positioned, error) bool) {
		for i, size := range s.of {
			if s.each != nil {
				s.each(i)
			}
			if err := query.Take(int64(2 * size)); err != nil {
				yield(inventory.Positioned{}, err)
				return
			}
			record := inventory.Record{Org: org, Resource: inventory.Resource{Provider: "aws", Category: "c", ResourceType: "t",
				ResourceName: fmt.Sprint(i), Attributes: []byte(`{"text":"` + strings.Repeat("x", size) + `"}`)}}
			if !yield(inventory.Positioned{Record: record, Next: "n"}, nil) {
				return
			}
		}
		if s.err != nil {
			yield(inventory.Positioned{}, s.err)
		}
	}
}

func serveSizes(t *testing.T, memory *budget.Budget, store sizes) caller {
	deps := testDeps(t)
	deps.Inventory = inventory.NewService(store).Within(memory)
	deps.Limits.Memory = memory
	return newCaller(t, startServer(t, deps), acme, acmeKey)
}

var dataPaths = []string{"/api/v1/data", "/api/v1/data/latest"}

// Vulnerability: readers of large records who take nothing hold more memory than there is.
// Check: a record for which there is no memory is refused before the first byte, or breaks
// the answer off, and nothing stays in the budget.
func TestDataWithoutMemory(t *testing.T) {
	for _, path := range dataPaths {
		for _, first := range []int{10, 100 << 10} { // what goes before, and is sent or not
			memory := middleware.NewMemory(8 << 20)
			neighbour := memory.Hold(budget.Share{Org: globex})
			if err := neighbour.AcquireNow(4 << 20); err != nil {
				t.Fatal(err)
			}
			c := serveSizes(t, memory, sizes{of: []int{first, 1 << 20}})
			response := c.open(path, "Accept-Encoding: identity")
			text, err := io.ReadAll(response.Body)
			whole := response.StatusCode == http.StatusOK && err == nil
			refused := response.StatusCode == http.StatusServiceUnavailable && strings.Contains(string(text), `"overloaded"`)
			if whole || first == 10 && !refused {
				t.Errorf("%s after %d: %d, %v: %.300s", path, first, response.StatusCode, err, text)
			}
			neighbour.Release()
			wantIdle(t, c.url)
			if got := c.do("GET "+path, ""); got.status != http.StatusOK || len(got.body) < 1<<20 {
				t.Errorf("%s with memory: %d, %d bytes", path, got.status, len(got.body))
			}
			wantIdle(t, c.url)
		}
	}
}

// A record that takes more than all memory is read when nobody else has any.
func TestDataLargerThanMemory(t *testing.T) {
	c := serveSizes(t, middleware.NewMemory(2<<20), sizes{of: []int{10, 3 << 20}})
	if got := c.do("GET /api/v1/data", ""); got.status != http.StatusOK || len(got.body) < 3<<20 {
		t.Errorf("%d, %d bytes", got.status, len(got.body))
	}
	wantIdle(t, c.url)
}

// What is in memory counts while a reader takes nothing, and no longer than it is there.
func TestDataCountsWhileItIsRead(t *testing.T) {
	for _, path := range dataPaths {
		memory := middleware.NewMemory(64 << 20)
		c := serveSizes(t, memory, sizes{of: []int{8 << 20}, err: fault.New(fault.StoreUnavailable, "the disk is gone")})
		response := c.open(path, "Accept-Encoding: identity")
		if got := memory.InUse(); got < 24<<20 {
			t.Errorf("%s: %d bytes are in use while a record of 8 MiB is sent", path, got)
		}
		_ = response.Body.Close() // the client leaves
		wantIdle(t, c.url)
		if _, err := io.Copy(io.Discard, c.open(path).Body); err == nil {
			t.Errorf("%s: the store's error is lost", path)
		}
		wantIdle(t, c.url)
	}
}

// Many small records ask the budget once.
func TestDataOfSmallRecords(t *testing.T) {
	memory := middleware.NewMemory(64 << 20)
	var mu sync.Mutex
	var seen []int64
	store := sizes{of: make([]int, 5000), each: func(int) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, memory.InUse())
	}}
	c := serveSizes(t, memory, store)
	if got := c.do("GET /api/v1/data", ""); got.status != http.StatusOK {
		t.Fatal(got.status)
	}
	wantIdle(t, c.url)
	mu.Lock()
	defer mu.Unlock()
	for i, bytes := range seen[1:] {
		if bytes != seen[1] {
			t.Fatalf("%d bytes are in use after record %d, and %d after the first one", bytes, i, seen[1])
		}
	}
}
