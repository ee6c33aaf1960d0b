package sqluploads

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

// TestPrune forgets batches when they are old by the clock, whatever their records' time.
func TestPrune(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		o := on.fresh(t).Options
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		o.Now = func() time.Time { return now }
		store, org := open(t, o), uuid.New()
		old := batchOf(org, 1)
		old.At = now.AddDate(-5, 0, 0)
		appendTo(t, store, old)
		for range 2*pruneRows + 10 {
			appendTo(t, store, batchOf(org, 1))
		}
		now = now.Add(7 * 24 * time.Hour)
		if err := store.prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		if again := appendTo(t, store, old); !again.Replayed {
			t.Error("a batch of seven days ago was forgotten")
		}
		recent := batchOf(org, 1)
		appendTo(t, store, recent)
		now = now.Add(remembered - 24*time.Hour)
		if err := store.prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		var left int
		if err := store.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM inventory_batches").Scan(&left); err != nil ||
			left != 1 {
			t.Errorf("%d batches are left, %v; want the recent one", left, err)
		}
		if again := appendTo(t, store, recent); !again.Replayed {
			t.Error("the recent batch was forgotten")
		}
	})
}
