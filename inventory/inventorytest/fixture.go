package inventorytest

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
)

// newBatch returns n resources under an ID that no other batch has.
func newBatch(org uuid.UUID, n int) inventory.Batch {
	return namedBatch(org, uuid.NewString(), n)
}

// namedBatch returns n resources that say in their names where they belong.
func namedBatch(org uuid.UUID, id string, n int) inventory.Batch {
	resources := make([]inventory.Resource, n)
	for i := range resources {
		resources[i] = vm(place{Batch: id, Index: i, Of: n}.String(), fmt.Sprintf(`{"batch":%q,"index":%d}`, id, i))
	}
	return batchOf(org, id, resources...)
}

func batchOf(org uuid.UUID, id string, resources ...inventory.Resource) inventory.Batch {
	return inventory.Batch{ID: id, Digest: DigestOf(resources), Org: org, Request: "request-" + id, Resources: resources}
}

func DigestOf(resources []inventory.Resource) [32]byte {
	hash := sha256.New()
	for _, r := range resources {
		_, _ = fmt.Fprintf(hash, "%q%q%q%q%d ", r.Provider, r.Category, r.ResourceType, r.ResourceName,
			len(r.Attributes)) // never fails
		_, _ = hash.Write(r.Attributes)
	}
	return [32]byte(hash.Sum(nil))
}

// vm is a resource with these attributes.
func vm(name, attributes string) inventory.Resource {
	return inventory.Resource{Provider: "aws", Category: "compute", ResourceType: "vm_instance", ResourceName: name,
		Attributes: json.RawMessage(attributes)}
}

// upload appends a batch that has to be recorded now, and checks the receipt.
func upload(t *testing.T, store inventory.Store, batch inventory.Batch) inventory.Receipt {
	t.Helper()
	receipt, err := store.Append(t.Context(), batch)
	if err != nil {
		t.Fatalf("Append: %v", err)
	}
	want := inventory.Receipt{Request: batch.Request, At: receipt.At, Count: len(batch.Resources)}
	suite.Equal(t, "Receipt", want, receipt)
	wantStamp(t, receipt.At)
	if !batch.At.IsZero() && !receipt.At.Equal(batch.At) {
		t.Fatalf("recorded at %v, given was %v", receipt.At, batch.At)
	}
	return receipt
}

// wantReplay appends a batch that was recorded before.
func wantReplay(t *testing.T, store inventory.Store, batch inventory.Batch, first inventory.Receipt) {
	t.Helper()
	first.Replayed = true
	again, err := store.Append(t.Context(), batch)
	if err != nil {
		t.Fatalf("Append of a recorded batch: %v", err)
	}
	suite.Equal(t, "Receipt of a recorded batch", first, again)
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

// place is where a resource stands in its batch.
type place struct {
	Batch     string
	Index, Of int
}

func (p place) String() string { return fmt.Sprintf("%s %d %d", p.Batch, p.Index, p.Of) }

func parsePlace(name string) (p place, err error) {
	words := strings.Fields(name)
	if len(words) != 3 {
		return p, errors.New("not the three words of a place")
	}
	index, err := strconv.Atoi(words[1])
	if err != nil {
		return p, err
	}
	of, err := strconv.Atoi(words[2])
	return place{Batch: words[0], Index: index, Of: of}, err
}

// wholeBatches returns the IDs of the batches that the records consist of, in order, if
// all are whole: their resources stand side by side and share a timestamp.
func wholeBatches(records []inventory.Record) ([]string, error) {
	var ids []string
	var next place
	for i, r := range records {
		p, err := parsePlace(r.ResourceName)
		if err != nil {
			return nil, fmt.Errorf("record %d: the name %q: %w", i, r.ResourceName, err)
		}
		switch {
		case next.Index < next.Of && p != next:
			return nil, fmt.Errorf("record %d: %v, want %v", i, p, next)
		case next.Index == next.Of && p.Index != 0:
			return nil, fmt.Errorf("record %d: %v without what comes before it", i, p)
		case p.Index > 0 && r.Timestamp != records[i-1].Timestamp:
			return nil, fmt.Errorf("record %d: %v has another timestamp than its batch", i, p)
		}
		if p.Index == 0 {
			ids = append(ids, p.Batch)
		}
		next = place{Batch: p.Batch, Index: p.Index + 1, Of: p.Of}
	}
	if next.Index < next.Of {
		return nil, fmt.Errorf("the last batch ends before %v", next)
	}
	return ids, nil
}
