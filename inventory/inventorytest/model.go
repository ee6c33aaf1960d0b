package inventorytest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// tenant is an organization and all that its store should have.
type tenant struct {
	org      uuid.UUID
	batches  []inventory.Batch
	receipts []inventory.Receipt
	records  []inventory.Record
}

// tenancy is the model of a store with three organizations.
type tenancy struct {
	store   inventory.Store
	tenants [3]*tenant
}

func newTenancy(store inventory.Store) *tenancy {
	m := &tenancy{store: store}
	for i := range m.tenants {
		m.tenants[i] = &tenant{org: uuid.New()}
	}
	return m
}

// checkInventoryModel makes random calls and compares each answer with the model.
func checkInventoryModel(t *testing.T, store inventory.Store) {
	rapid.Check(t, func(t *rapid.T) {
		m := newTenancy(store)
		t.Repeat(map[string]func(*rapid.T){
			"append":   m.append,
			"append 2": m.append, // twice as often
			"replay":   m.replay,
			"mismatch": m.mismatch,
			"query":    m.query,
			"summary":  m.summary,
			"expire":   m.expire,
		})
		for i := range m.tenants {
			m.compare(t, m.tenants[i], inventory.Query{})
		}
	})
}

func (m *tenancy) draw(t *rapid.T) *tenant { return rapid.SampledFrom(m.tenants[:]).Draw(t, "tenant") }

// append records a batch; the organizations use the same few IDs.
func (m *tenancy) append(t *rapid.T) {
	tenant := m.draw(t)
	resource := rapid.Custom(func(t *rapid.T) inventory.Resource {
		words := rapid.SampledFrom(someWords())
		return inventory.Resource{
			Provider: words.Draw(t, "provider"), Category: words.Draw(t, "category"), ResourceType: words.Draw(t, "type"),
			ResourceName: rapid.SampledFrom(someNames()).Draw(t, "name"),
			Attributes:   []byte(rapid.SampledFrom(someAttributes()).Draw(t, "attributes")),
		}
	})
	id := fmt.Sprint("batch-", len(tenant.batches))
	batch := batchOf(tenant.org, id, rapid.SliceOfN(resource, 1, 6).Draw(t, "resources")...)
	receipt, err := m.store.Append(context.Background(), batch)
	if err != nil || receipt.Replayed || receipt.Request != batch.Request || receipt.Count != len(batch.Resources) {
		t.Fatalf("Append: %+v, %v", receipt, err)
	}
	if n := len(tenant.receipts); n > 0 && receipt.At.Before(tenant.receipts[n-1].At) {
		t.Fatalf("recorded at %v, the one before at %v", receipt.At, tenant.receipts[n-1].At)
	}
	tenant.batches, tenant.receipts = append(tenant.batches, batch), append(tenant.receipts, receipt)
	tenant.records = append(tenant.records, recordsOf(batch, receipt)...)
}

// old draws a batch that was recorded before.
func (m *tenancy) old(t *rapid.T) (*tenant, int) {
	tenant := m.draw(t)
	if len(tenant.batches) == 0 {
		t.Skip("nothing was recorded yet")
	}
	return tenant, rapid.IntRange(0, len(tenant.batches)-1).Draw(t, "batch")
}

func (m *tenancy) replay(t *rapid.T) {
	tenant, i := m.old(t)
	want := tenant.receipts[i]
	want.Replayed = true
	if got, err := m.store.Append(context.Background(), tenant.batches[i]); err != nil || !cmp.Equal(want, got) {
		t.Fatalf("Append of a recorded batch: %+v, %v; want %+v", got, err, want)
	}
}

func (m *tenancy) mismatch(t *rapid.T) {
	tenant, i := m.old(t)
	batch := tenant.batches[i]
	batch.Digest[rapid.IntRange(0, 31).Draw(t, "byte")]++
	if got, err := m.store.Append(context.Background(), batch); !fault.Is(err, fault.IdempotencyMismatch) {
		t.Fatalf("Append of another digest: %+v, %v", got, err)
	}
}

func (m *tenancy) query(t *rapid.T) {
	tenant := m.draw(t)
	query := inventory.Query{Order: inventory.Order(rapid.Bool().Draw(t, "descending"))}
	words := rapid.SampledFrom(append(someWords(), "", "", ""))
	query.Provider, query.Category, query.ResourceType = words.Draw(t, "provider"), words.Draw(t, "category"),
		words.Draw(t, "type")
	query.ResourceName = rapid.SampledFrom(append(someNames(), make([]string, 12)...)).Draw(t, "name")
	if n := len(tenant.receipts); n > 0 && rapid.Bool().Draw(t, "bounded") {
		query.Since = tenant.receipts[rapid.IntRange(0, n-1).Draw(t, "since")].At
		query.Until = tenant.receipts[rapid.IntRange(0, n-1).Draw(t, "until")].At
	}
	if filter := rapid.SampledFrom(someFilters()).Draw(t, "filter"); rapid.Bool().Draw(t, "filtered") {
		query.Attributes = map[string]string{filter[0]: filter[1]}
	}
	m.compare(t, tenant, query)
}

// compare reads in two parts, of which the first may be the whole.
func (m *tenancy) compare(t *rapid.T, tenant *tenant, query inventory.Query) {
	want := matching(query, tenant.records)
	if query.Order == inventory.Descending {
		slices.Reverse(want)
	}
	got, err := read(context.Background(), m.store, tenant.org, query)
	if err == nil && len(got) > 0 {
		at := rapid.IntRange(0, len(got)-1).Draw(t, "page")
		query.After = got[at].Next
		var rest []inventory.Positioned
		rest, err = read(context.Background(), m.store, tenant.org, query)
		got = append(got[:at+1], rest...)
	}
	if err == nil {
		err = same(want, bare(got))
	}
	if err != nil {
		t.Fatalf("Records(%+v): %v", query, err)
	}
}

// expire removes what is older than a batch, or all.
func (m *tenancy) expire(t *rapid.T) {
	tenant, i := m.old(t)
	before := tenant.receipts[i].At.Add(time.Duration(rapid.IntRange(0, 1).Draw(t, "microseconds")) * time.Microsecond)
	left := slices.DeleteFunc(slices.Clone(tenant.records),
		func(r inventory.Record) bool { return r.Timestamp.Before(before) })
	limit := rapid.IntRange(1, 20).Draw(t, "limit")
	for gone := 0; ; {
		removed, err := m.store.Expire(context.Background(), tenant.org, before, limit)
		if gone += removed; err != nil || removed < 0 || removed == 0 && gone != len(tenant.records)-len(left) {
			t.Fatalf("Expire: %d, %d in all, %v; want %d", removed, gone, err, len(tenant.records)-len(left))
		}
		if removed == 0 {
			break
		}
	}
	tenant.records = left
}

func (m *tenancy) summary(t *rapid.T) {
	tenant := m.draw(t)
	got, err := m.store.Summary(context.Background(), tenant.org)
	want := summarize(tenant.records)
	if err != nil || len(want) != len(got) || (len(want) > 0 && !cmp.Equal(want, got)) {
		t.Fatalf("Summary: %+v, %v; want %+v", got, err, want)
	}
}
