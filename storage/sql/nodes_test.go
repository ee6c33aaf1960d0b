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
				t.Errorf("the nodes disagree on when batch %d was recorded: %v, %v, %v", i, at, receipts[1][i].At,
					receipts[2][i].At)
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

// TestAllowOfNodes has two nodes ask, for each upload of an organization, how much it uses: each upload sees what those
// before it have left, also one that waited for the other node's.
func TestAllowOfNodes(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		const uploads = 60
		d, org := on.fresh(t), uuid.New()
		stores := []*Store{open(t, d.Options), open(t, d.Options)}
		size := batchOf(org, 1)
		seen := make([]int64, uploads)
		together(uploads, func(i int) {
			batch := batchOf(org, 1)
			batch.Allow = func(used, _ int64) error {
				seen[i] = used // the last call counts
				return nil
			}
			if _, err := stores[i%2].Append(t.Context(), batch); err != nil {
				t.Error(err)
			}
		})
		slices.Sort(seen)
		for i, used := range seen {
			if want := int64(i) * size.Bytes(); used != want {
				t.Fatalf("upload %d was allowed by %d bytes, want %d: %v", i, used, want, seen)
			}
		}
	})
}

// TestTableMadeTogether has two nodes make each of many organizations' tables at once.
func TestTableMadeTogether(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		d := on.fresh(t)
		stores := []*Store{open(t, d.Options), open(t, d.Options)}
		for range 10 {
			org := uuid.New()
			batches := []inventory.Batch{batchOf(org, 1), batchOf(org, 2)}
			together(2, func(i int) {
				if _, err := stores[i].Append(t.Context(), batches[i]); err != nil {
					t.Error(err)
				}
			})
			wantOnce(t, stores[0], org, map[string]int{batches[0].ID: 1, batches[1].ID: 2})
		}
	})
}

func together(n int, work func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { work(i) })
	}
	wg.Wait()
}

// TestShredBesideAppend shreds while another node's append is under way: that there is the organization goes first all
// the same, so that nobody appends to a table which is gone by then.
func TestShredBesideAppend(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		store, org, ctx := open(t, on.fresh(t).Options), uuid.New(), t.Context()
		appendTo(t, store, batchOf(org, 1))
		other, err := store.db.BeginTx(ctx, nil)
		if err == nil {
			_, err = other.ExecContext(ctx, "UPDATE inventory_organizations SET newest = '2026-03-01 12:00:00'")
		}
		if err != nil {
			t.Fatal(err)
		}
		removed := make(chan int, 1)
		go func() {
			n, err := store.Shred(ctx, org, 100)
			if err != nil {
				t.Error(err)
			}
			removed <- n
		}()
		waits := "SELECT COUNT(*) FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE 'DELETE%'"
		if on.speaks.isPostgres() {
			waits = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
		}
		for n := 0; n == 0; {
			if err := store.db.QueryRowContext(ctx, waits).Scan(&n); err != nil {
				t.Fatal(err)
			}
		}
		if err := other.Commit(); err != nil {
			t.Fatal(err)
		}
		n, left := <-removed, 0
		if err := store.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM inventory_organizations").Scan(&left); err != nil ||
			n != 1 || left != 0 {
			t.Errorf("%d went first, and %d organizations are left, %v", n, left, err)
		}
	})
}
