package storagetest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/holdfast/holdfast/inventory"
)

// newBatch returns n resources under an ID that no other batch has.
func newBatch(org uuid.UUID, n int) inventory.Batch {
	id := uuid.NewString()
	resources := make([]inventory.Resource, n)
	for i := range resources {
		resources[i] = inventory.Resource{
			Provider: "aws", Category: "compute", ResourceType: "vm_instance", ResourceName: fmt.Sprintf("vm-%03d", i),
			Attributes: fmt.Appendf(nil, `{"batch":%q,"index":%d,"of":%d}`, id, i, n),
		}
	}
	return batchOf(org, id, resources...)
}

func batchOf(org uuid.UUID, id string, resources ...inventory.Resource) inventory.Batch {
	return inventory.Batch{ID: id, Digest: digestOf(resources), Org: org, Request: "request-" + id, Resources: resources}
}

func digestOf(resources []inventory.Resource) [32]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%q", resources))
}

// vm is a resource with these attributes.
func vm(name, attributes string) inventory.Resource {
	return inventory.Resource{Provider: "aws", Category: "compute", ResourceType: "vm_instance", ResourceName: name, Attributes: json.RawMessage(attributes)}
}

// upload appends a batch that has to be recorded now, and checks the receipt.
func upload(t *testing.T, store inventory.Store, batch inventory.Batch) inventory.Receipt {
	t.Helper()
	before := time.Now()
	receipt, err := store.Append(t.Context(), batch)
	if err != nil {
		t.Fatalf("Append: %v", err)
	}
	want := inventory.Receipt{Request: batch.Request, At: receipt.At, Count: len(batch.Resources)}
	wantEqual(t, "Receipt", want, receipt)
	wantStamp(t, receipt.At)
	if batch.At.IsZero() && receipt.At.Before(before.Add(-time.Minute)) {
		t.Fatalf("recorded at %v, appended at %v", receipt.At, before)
	}
	return receipt
}

func wantStamp(t *testing.T, at time.Time) {
	t.Helper()
	if at.IsZero() || at.Location() != time.UTC || at != at.Truncate(time.Microsecond) {
		t.Fatalf("the timestamp %v is not UTC in microseconds", at)
	}
}

// recordsOf returns what a batch becomes.
func recordsOf(batch inventory.Batch, receipt inventory.Receipt) []inventory.Record {
	var records []inventory.Record
	for _, resource := range batch.Resources {
		records = append(records, inventory.Record{Timestamp: receipt.At, Org: batch.Org, Resource: resource})
	}
	return records
}

// read collects what the query yields.
func read(ctx context.Context, store inventory.Store, org uuid.UUID, query inventory.Query) ([]inventory.Positioned, error) {
	var all []inventory.Positioned
	var failure error
	for record, err := range store.Records(ctx, org, query) {
		if failure != nil {
			return all, fmt.Errorf("the sequence went on after the error %w", failure)
		}
		if failure = err; err == nil {
			all = append(all, record)
		}
	}
	return all, failure
}

func mustRead(t *testing.T, store inventory.Store, org uuid.UUID, query inventory.Query) []inventory.Positioned {
	t.Helper()
	all, err := read(t.Context(), store, org, query)
	if err != nil {
		t.Fatalf("Records: %v", err)
	}
	return all
}

func bare(all []inventory.Positioned) []inventory.Record {
	var records []inventory.Record
	for _, p := range all {
		records = append(records, p.Record)
	}
	return records
}

// wantRecords reads the organization from its beginning to its end.
func wantRecords(t *testing.T, store inventory.Store, org uuid.UUID, want []inventory.Record) {
	t.Helper()
	wantSame(t, want, bare(mustRead(t, store, org, inventory.Query{})))
}

// wantSame compares records; the first that differs is shown.
func wantSame(t *testing.T, want, got []inventory.Record) {
	t.Helper()
	for i := range min(len(want), len(got)) {
		if diff := cmp.Diff(text(want[i]), text(got[i])); diff != "" {
			t.Fatalf("record %d of %d (-want +got):\n%.2000s", i, len(want), diff)
		}
	}
	if len(want) != len(got) {
		t.Fatalf("%d records, want %d", len(got), len(want))
	}
}

// text spells a record out, every byte of it.
func text(r inventory.Record) string {
	return fmt.Sprintf("%s %s %q %q %q %q\n%q", r.Timestamp.Format(time.RFC3339Nano), r.Org, r.Provider, r.Category, r.ResourceType, r.ResourceName, r.Attributes)
}
