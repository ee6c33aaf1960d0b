package inventorytest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
)

// RunDurable holds an engine to what survives its process. open opens the store
// in a directory, a new one or one that was used before; the suite closes it. The
// engine's TestMain has to call ChildMain.
func RunDurable(t *testing.T, open func(t *testing.T, dir string) inventory.Store) {
	t.Run("Reopen", func(t *testing.T) { checkInventoryReopen(t, open) })
	t.Run("ReopenAfterLoad", func(t *testing.T) { checkReopenAfterLoad(t, open) })
	t.Run("Kill", func(t *testing.T) {
		suite.Deep(t)
		checkInventoryKill(t, open)
	})
}

// checkInventoryReopen closes a store, opens it again and finds everything in its place.
func checkInventoryReopen(t *testing.T, open func(t *testing.T, dir string) inventory.Store) {
	dir, org, other := t.TempDir(), uuid.New(), uuid.New()
	store := open(t, dir)
	all := fillVariety(t, store, org)
	odd := newBatch(org, len(oddNames()))
	for i, name := range oddNames() {
		odd.Resources[i] = vm(name, oddAttributes()[i%len(oddAttributes())])
	}
	odd.At = time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	receipt := upload(t, store, odd)
	all = append(all, recordsOf(odd, receipt)...)
	first := newBatch(other, 100)
	rest := recordsOf(first, upload(t, store, first))
	up := mustRead(t, store, org, inventory.Query{})[len(all)/2].Next
	down := mustRead(t, store, org, inventory.Query{Order: inventory.Descending})[0].Next
	usage := usageOf(t, store, org)
	for range 3 {
		suite.Close(t, store)
		store = open(t, dir)
		if again := usageOf(t, store, org); again != usage || again == 0 {
			t.Errorf("the usage went from %d to %d over a restart", usage, again)
		}
		wantQuery(t, store, org, inventory.Query{}, all)
		wantRecords(t, store, other, rest)
		wantOrganizations(t, store, []uuid.UUID{org, other})
		wantSummary(t, store, org)
		wantReplay(t, store, odd, receipt)
		wantSame(t, all[len(all)/2+1:], bare(mustRead(t, store, org, inventory.Query{After: up})))
		left := bare(mustRead(t, store, org, inventory.Query{After: down, Order: inventory.Descending}))
		slices.Reverse(left)
		wantSame(t, all[:len(all)-1], left)
		batch := newBatch(other, 2)
		rest = append(rest, recordsOf(batch, upload(t, store, batch))...)
		wantRefusedPast(t, store, org, odd.At.Add(-time.Microsecond))
	}
	late := newBatch(org, 1)
	if at := upload(t, store, late).At; at.Before(odd.At) {
		t.Errorf("recorded at %v, after a record of %v from before the restart", at, odd.At)
	}
	suite.Close(t, store)
}

// checkReopenAfterLoad closes a store while many upload. What was acknowledged is there
// afterwards, and what was not can be sent again.
func checkReopenAfterLoad(t *testing.T, open func(t *testing.T, dir string) inventory.Store) {
	dir, orgs := t.TempDir(), []uuid.UUID{uuid.New(), uuid.New()}
	recorded, unknown := appendUntilClosed(t, open(t, dir), orgs)
	store := open(t, dir)
	for _, batch := range recorded {
		if receipt, err := store.Append(t.Context(), batch); err != nil || !receipt.Replayed {
			t.Errorf("an acknowledged batch, sent again: %+v, %v", receipt, err)
		}
	}
	for _, batch := range unknown {
		if _, err := store.Append(t.Context(), batch); err != nil {
			t.Errorf("a batch without an answer, sent again: %v", err)
		}
	}
	count := 0
	for _, org := range orgs {
		ids, err := wholeBatches(bare(mustRead(t, store, org, inventory.Query{})))
		if err != nil {
			t.Error(err)
		}
		count += len(ids)
		wantSummary(t, store, org)
	}
	if want := len(recorded) + len(unknown); count != want {
		t.Errorf("%d batches are there, want %d", count, want)
	}
	suite.Close(t, store)
}
