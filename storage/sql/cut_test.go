package sqluploads

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/serverdb/servertest"
)

// proxied returns a store whose connections go through a proxy.
func proxied(t *testing.T, on testServer) (*Store, *servertest.Proxy) {
	t.Helper()
	d, proxy := on.proxied(t)
	return open(t, d.Options), proxy
}

// TestCutAnswer loses the answer to every statement of a transaction in turn. The outcome
// of a COMMIT is then unknown, and the store finds it out by itself.
func TestCutAnswer(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		for _, statement := range []string{
			"CREATE TABLE", "INTO inventory_organizations", "START TRANSACTION", "FOR UPDATE", "FROM inventory_batches",
			"INSERT INTO org_", "INTO inventory_batches", "INTO inventory_groups", "UPDATE inventory_organizations", "COMMIT",
		} {
			t.Run(statement, func(t *testing.T) {
				store, proxy := proxied(t, on)
				batch := batchOf(uuid.New(), 3)
				proxy.CutAnswer(statement)
				receipt := appendTo(t, store, batch)
				if proxy.Pending() {
					t.Fatal("nothing was cut")
				}
				if receipt.Replayed || receipt.Count != 3 || receipt.Request != batch.Request {
					t.Errorf("the receipt is %+v", receipt)
				}
				wantOnce(t, store, batch.Org, map[string]int{batch.ID: 3})
				if again := appendTo(t, store, batch); !again.Replayed || again.At != receipt.At {
					t.Errorf("sent again: %+v, and before %+v", again, receipt)
				}
				wantOnce(t, store, batch.Org, map[string]int{batch.ID: 3})
			})
		}
	})
}

// TestCutTwice loses the connection, and the server with it: the outcome stays unknown.
func TestCutTwice(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		store, proxy := proxied(t, on)
		org := uuid.New()
		first := batchOf(org, 1)
		appendTo(t, store, first)
		second := batchOf(org, 2)
		proxy.Break()
		_, err := store.Append(t.Context(), second)
		if f := fault.From(err); f.Code != fault.StoreUnavailable || f.RetryAfter <= 0 {
			t.Errorf("error %v (again after %v), want store_unavailable and a time", err, f.RetryAfter)
		}
		if err := store.ask(); !fault.Is(err, fault.StoreUnavailable) {
			t.Errorf("status %v, want store_unavailable", err)
		}
		for _, err := range store.Records(t.Context(), org, inventory.Query{}) {
			if !fault.Is(err, fault.StoreUnavailable) {
				t.Errorf("Records: %v, want store_unavailable", err)
			}
		}
		proxy.Mend()
		if err := store.ask(); err != nil {
			t.Errorf("status, after the server is back: %v", err)
		}
		appendTo(t, store, second)
		wantOnce(t, store, org, map[string]int{first.ID: 1, second.ID: 2})
	})
}

// TestCutAnywhere cuts connections at random while several organizations upload.
func TestCutAnywhere(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		store, proxy := proxied(t, on)
		var wg sync.WaitGroup
		stop, cutting := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(cutting)
			for random := rand.New(rand.NewPCG(1, 2)); ; {
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
					if !proxy.Pending() {
						proxy.CutAfter(random.Int64N(20_000))
					}
				}
			}
		}()
		var mu sync.Mutex
		sent := map[uuid.UUID]map[string]int{}
		for worker := range 8 {
			org := uuid.UUID{byte(1 + worker%3)}
			wg.Go(func() {
				for i := range 30 {
					batch := batchOf(org, 1+i%7)
					if err := insist(t.Context(), store, batch); err != nil {
						t.Error(err)
					}
					mu.Lock()
					if sent[org] == nil {
						sent[org] = map[string]int{}
					}
					sent[org][batch.ID] = len(batch.Resources)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		close(stop)
		<-cutting
		proxy.Mend()
		for org, batches := range sent {
			wantOnce(t, store, org, batches)
		}
	})
}

// insist sends a batch until it is recorded, as callers are told to.
func insist(ctx context.Context, store inventory.Store, batch inventory.Batch) error {
	for {
		receipt, err := store.Append(ctx, batch)
		switch f := fault.From(err); {
		case err == nil && receipt.Count != len(batch.Resources):
			return fmt.Errorf("the receipt counts %d resources, want %d", receipt.Count, len(batch.Resources))
		case err == nil:
			return nil
		case f.Code != fault.StoreUnavailable || f.RetryAfter <= 0:
			return fmt.Errorf("error %w, want store_unavailable with a time to try again", err)
		}
	}
}
