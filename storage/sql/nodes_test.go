package sqluploads

import (
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// TestNodes starts several nodes at once on a new database and lets them upload for the
// same organizations.
func TestNodes(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		const nodes, each = 3, 40
		d := on.fresh(t)
		stores := make([]*Store, nodes)
		together(nodes, func(i int) { stores[i] = open(t, d.Options) })
		if t.Failed() {
			return
		}
		org := uuid.New()
		sent := make([]inventory.Batch, each)
		for i := range sent {
			sent[i] = batchOf(org, 1+i%4)
		}
		receipts := make([][each]inventory.Receipt, nodes)
		together(nodes*4, func(worker int) {
			// Every node gets every batch, each from four uploaders in an order of their own.
			node := worker % nodes
			for i := range sent {
				at := (i*7 + worker*3) % each
				receipt, err := stores[node].Append(t.Context(), sent[at])
				if err != nil {
					t.Errorf("node %d: %v", node, err)
				}
				receipts[node][at].At = receipt.At
			}
		})
		batches := map[string]int{}
		for i, b := range sent {
			batches[b.ID] = len(b.Resources)
			if at := receipts[0][i].At; at != receipts[1][i].At || at != receipts[2][i].At {
				t.Errorf("the nodes disagree on when batch %d was recorded: %v, %v, %v", i, at, receipts[1][i].At, receipts[2][i].At)
			}
		}
		for _, store := range stores {
			wantOnce(t, store, org, batches)
			wantNeighbours(t, store, org)
			wantCounts(t, store, org, batches)
		}
		wantSharedCursors(t, stores[0], stores[1], org)
	})
}

// wantNeighbours checks that nobody's records stand between those of a batch.
func wantNeighbours(t *testing.T, store inventory.Store, org uuid.UUID) {
	t.Helper()
	var ids []string
	for _, r := range readAll(t, store, org, inventory.Query{}) {
		ids = append(ids, r.ResourceName)
	}
	ids = slices.Compact(ids)
	slices.Sort(ids)
	if once := slices.Compact(slices.Clone(ids)); len(once) != len(ids) {
		t.Errorf("%d batches in %d pieces", len(once), len(ids))
	}
}

// wantSharedCursors continues on one node what another has begun.
func wantSharedCursors(t *testing.T, a, b inventory.Store, org uuid.UUID) {
	t.Helper()
	all := readAll(t, a, org, inventory.Query{})
	rest := readAll(t, b, org, inventory.Query{After: all[9].Next})
	if len(rest) != len(all)-10 || rest[0].ResourceName != all[10].ResourceName || rest[0].Next != all[10].Next {
		t.Errorf("another node continues with %d records, want %d", len(rest), len(all)-10)
	}
}

func together(n int, work func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { work(i) })
	}
	wg.Wait()
}
