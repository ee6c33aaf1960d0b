package inventorytest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// checkMemory reads small records and large ones: before each, the store has told how much it
// has in memory, which is no less than the record; and when that is refused, the sequence ends
// with the refusal.
func checkMemory(t *testing.T, store inventory.Store) {
	org := uuid.New()
	sizes := []int{10, 400_000, 10, 10, 1_500_000, 20_000, 10}
	for i, size := range sizes {
		upload(t, store, batchOf(org, uuid.NewString(), inventory.Resource{
			Provider: "aws", Category: "c", ResourceType: "t", ResourceName: fmt.Sprint("r", i),
			Attributes: fmt.Appendf(nil, `{"text":"%s"}`, strings.Repeat("x", size)),
		}))
	}
	for _, order := range []inventory.Order{inventory.Ascending, inventory.Descending} {
		wantAsked(t, store, org, inventory.Query{Order: order}, len(sizes))
		wantAsked(t, store, org, inventory.Query{Order: order, ResourceName: "r4"}, 1)
		wantMemoryRefused(t, store, org, inventory.Query{Order: order})
	}
}

// wantAsked reads so many records.
func wantAsked(t *testing.T, store inventory.Store, org uuid.UUID, query inventory.Query, records int) {
	t.Helper()
	var has int64
	query.Memory = func(bytes int64) error {
		has = bytes
		return nil
	}
	n := 0
	for record, err := range store.Records(t.Context(), org, query) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; has < int64(len(record.Attributes)) {
			t.Errorf("%s has %d bytes, and the store told of %d", record.ResourceName, len(record.Attributes), has)
		}
	}
	if n != records {
		t.Errorf("%d records, want %d", n, records)
	}
}

// wantMemoryRefused gives memory for all but the largest record.
func wantMemoryRefused(t *testing.T, store inventory.Store, org uuid.UUID, query inventory.Query) {
	t.Helper()
	refusal, refused := fault.New(fault.Overloaded, "no memory"), false
	query.Memory = func(bytes int64) error {
		if refused = refused || bytes > 1_400_000; refused {
			return refusal
		}
		return nil
	}
	var ended error
	for record, err := range store.Records(t.Context(), org, query) {
		if ended != nil || err == nil && (refused || len(record.Attributes) > 1_400_000) {
			t.Fatalf("the sequence goes on with %s after %v", record.ResourceName, refusal)
		}
		ended = err
	}
	if !errors.Is(ended, refusal) {
		t.Errorf("the sequence ends with %v, want %v", ended, refusal)
	}
}
