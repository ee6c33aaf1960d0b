package sqluploads

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// open returns a store that is closed at the end of the test.
func open(t testing.TB, o Options) *Store {
	t.Helper()
	store, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return store
}

// batchOf returns n resources under an ID of their own; each names the batch.
func batchOf(org uuid.UUID, n int) inventory.Batch {
	id := uuid.NewString()
	b := inventory.Batch{ID: id, Digest: sha256.Sum256([]byte(id)), Org: org, Request: "request-" + id}
	for i := range n {
		b.Resources = append(b.Resources, resource(id, fmt.Sprintf(`{"index":%d,"of":%d}`, i, n)))
	}
	return b
}

func resource(name, attributes string) inventory.Resource {
	return inventory.Resource{Provider: "aws", Category: "compute", ResourceType: "vm_instance", ResourceName: name,
		Attributes: []byte(attributes)}
}

func appendTo(t testing.TB, store inventory.Store, b inventory.Batch) inventory.Receipt {
	t.Helper()
	receipt, err := store.Append(t.Context(), b)
	if err != nil {
		t.Fatalf("Append: %v", err)
	}
	return receipt
}

func readAll(t testing.TB, store inventory.Store, org uuid.UUID, query inventory.Query) []inventory.Positioned {
	t.Helper()
	var all []inventory.Positioned
	for r, err := range store.Records(t.Context(), org, query) {
		if err != nil {
			t.Fatalf("Records: %v", err)
		}
		all = append(all, r)
	}
	return all
}

// wantOnce checks that each batch is there once and whole, and that timestamps grow.
func wantOnce(t testing.TB, store inventory.Store, org uuid.UUID, batches map[string]int) {
	t.Helper()
	found, newest := map[string]int{}, time.Time{}
	for _, r := range readAll(t, store, org, inventory.Query{}) {
		found[r.ResourceName]++
		if r.Timestamp.Before(newest) {
			t.Errorf("a record of %v follows one of %v", r.Timestamp, newest)
		}
		newest = r.Timestamp
	}
	for id, want := range batches {
		if found[id] != want {
			t.Errorf("%d records of the batch %s, want %d", found[id], id, want)
		}
		delete(found, id)
	}
	if len(found) > 0 {
		t.Errorf("records of %d batches that nobody sent", len(found))
	}
}
