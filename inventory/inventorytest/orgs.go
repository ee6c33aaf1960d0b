package inventorytest

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
)

// wantOrganizations reads the list from its beginning to its end.
func wantOrganizations(t *testing.T, store inventory.Store, want []uuid.UUID) {
	t.Helper()
	var got []uuid.UUID
	for org, err := range store.Organizations(t.Context()) {
		if err != nil {
			t.Fatalf("Organizations: %v", err)
		}
		got = append(got, org)
	}
	sorted := slices.SortedFunc(slices.Values(want), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	if !slices.Equal(sorted, got) {
		t.Fatalf("Organizations: %d of them, %.200v\nwant %d, %.200v", len(got), got, len(sorted), sorted)
	}
}

// checkOrganizations lists organizations whose IDs hold bytes that names trip over.
func checkOrganizations(t *testing.T, store inventory.Store) {
	ids := []uuid.UUID{{0xff, 0xff}, {1}, {1, 15: 1}, {0, '%', '_', '\'', 0xff}, {0x80}, {0x7f}, {15: 1}, uuid.Max}
	for i, org := range ids {
		batch := newBatch(org, 2)
		want := recordsOf(batch, upload(t, store, batch))
		wantOrganizations(t, store, ids[:i+1])
		wantRecords(t, store, org, want)
	}
	// To ask for an organization doesn't make it.
	mustRead(t, store, uuid.UUID{3}, inventory.Query{})
	if _, err := store.Summary(t.Context(), uuid.UUID{3}); err != nil {
		t.Errorf("Summary: %v", err)
	}
	wantOrganizations(t, store, ids)
	for org, err := range store.Organizations(t.Context()) {
		// Others come while the list is read.
		if err != nil {
			t.Fatalf("Organizations: %v", err)
		}
		upload(t, store, newBatch(org, 1))
	}
}

// checkManyOrganizations has a hundred organizations come at once.
func checkManyOrganizations(t *testing.T, store inventory.Store) {
	const workers, each = 20, 5
	orgs := make([]uuid.UUID, workers*each)
	want := make([][]inventory.Record, len(orgs))
	for i := range orgs {
		orgs[i] = uuid.New()
	}
	suite.Together(t, workers, func(ctx context.Context, worker int) error {
		for i := worker * each; i < (worker+1)*each; i++ {
			batch := newBatch(orgs[i], 1+i%3)
			receipt, err := store.Append(ctx, batch)
			if err != nil {
				return err
			}
			want[i] = recordsOf(batch, receipt)
		}
		return nil
	})
	wantOrganizations(t, store, orgs)
	for i, org := range orgs {
		wantRecords(t, store, org, want[i])
	}
}
