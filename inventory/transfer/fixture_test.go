package transfer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
	"github.com/holdfast/holdfast/inventory/transfer"
	"github.com/holdfast/holdfast/storage/csv"
)

var (
	acme   = uuid.MustParse("11111111-2222-3333-4444-555555555555")
	globex = uuid.MustParse("66666666-7777-8888-9999-aaaaaaaaaaaa")
	start  = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
)

func record(org uuid.UUID, at time.Time, name, attributes string) inventory.Record {
	return inventory.Record{Timestamp: at, Org: org, Resource: inventory.Resource{
		Provider: "aws", Category: "compute", ResourceType: "vm", ResourceName: name, Attributes: json.RawMessage(attributes),
	}}
}

// history is what an organization may have: uploads of several sizes, some at the same
// microsecond, some alike, and one timestamp with more records than a batch takes.
func history(org uuid.UUID) []inventory.Record {
	var all []inventory.Record
	at := start
	for upload, size := range []int{1, 3, 100, 1, 1, 7, 250, 2} {
		if upload != 4 {
			at = at.Add(time.Duration(upload+1) * time.Microsecond)
		}
		for i := range size {
			name := fmt.Sprintf("web-%d", i)
			if upload >= 3 && upload <= 4 {
				name = "twin"
			}
			all = append(all, record(org, at, name, `{"id":9007199254740993,"n":"<&>\",\r\n=1"}`))
		}
	}
	return all
}

// filled returns a store that has these records.
func filled(t *testing.T, records ...inventory.Record) inventory.Store {
	t.Helper()
	store := inventorytest.New()
	t.Cleanup(func() { _ = store.Close() })
	write(t, store, records...)
	return store
}

// write records each record as an upload of its own.
func write(t *testing.T, store inventory.Store, records ...inventory.Record) {
	t.Helper()
	for _, r := range records {
		batch := inventory.Batch{ID: uuid.NewString(), Org: r.Org, Request: "r", At: r.Timestamp,
			Resources: []inventory.Resource{r.Resource}}
		if _, err := store.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
}

func openCSV(t *testing.T) inventory.Store {
	t.Helper()
	store, err := csv.Open(t.Context(), csv.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func measure(t *testing.T, store inventory.Store, org uuid.UUID) transfer.Extent {
	t.Helper()
	extent, err := transfer.Measure(t.Context(), store, org, nil)
	if err != nil {
		t.Fatal(err)
	}
	return extent
}

// failing is a store whose Append goes wrong once, after so many went well.
type failing struct {
	inventory.Store
	after    int
	recorded bool // the batch is recorded nevertheless
}

var errFailing = errors.New("the power is gone")

func (f *failing) Append(ctx context.Context, batch inventory.Batch) (inventory.Receipt, error) {
	f.after--
	if f.after != -1 {
		return f.Store.Append(ctx, batch)
	}
	if f.recorded {
		if _, err := f.Store.Append(ctx, batch); err != nil {
			return inventory.Receipt{}, err
		}
	}
	return inventory.Receipt{}, errFailing
}

func (f *failing) AppendAll(ctx context.Context, batches []inventory.Batch) ([]inventory.Receipt, error) {
	return inventory.AppendEach(ctx, f, batches)
}

// forgetful is a store that has forgotten every batch's ID, as stores may after a week.
type forgetful struct{ inventory.Store }

func (f forgetful) Append(ctx context.Context, batch inventory.Batch) (inventory.Receipt, error) {
	batch.ID = uuid.NewString()
	return f.Store.Append(ctx, batch)
}

func (f forgetful) AppendAll(ctx context.Context, batches []inventory.Batch) ([]inventory.Receipt, error) {
	return inventory.AppendEach(ctx, f, batches)
}
