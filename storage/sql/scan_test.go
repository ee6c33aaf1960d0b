package sqluploads

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
)

// TestGaps reads over IDs that are far apart, with and without a filter.
func TestGaps(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		d := on.fresh(t)
		store, org := open(t, d.Options), uuid.New()
		sent := map[string]int{}
		for _, gap := range []int64{1, window - 1, window, 3 * window, 1 << 40, 1 << 60} {
			batch := batchOf(org, 3)
			batch.Resources[1].Provider = "gcp"
			appendTo(t, store, batch)
			sent[batch.ID] = 3
			continued := "ALTER TABLE %s AUTO_INCREMENT = %d" // MySQL takes a lower number for the next one
			if on.speaks.isPostgres() {
				continued = "SELECT setval(pg_get_serial_sequence('%[1]s', 'id'), GREATEST(%[2]d, (SELECT MAX(id) FROM %[1]s)))"
			}
			d.exec(t, fmt.Sprintf(continued, tableOf(org), gap+10))
		}
		wantOnce(t, store, org, sent)
		for _, order := range []inventory.Order{inventory.Ascending, inventory.Descending} {
			for filter, want := range map[string]int{"gcp": len(sent), "aws": 2 * len(sent), "azure": 0} {
				all := readAll(t, store, org, inventory.Query{Order: order, Provider: filter})
				if len(all) != want {
					t.Errorf("%d records of %s, want %d", len(all), filter, want)
				}
				for i := range all {
					rest := readAll(t, store, org, inventory.Query{Order: order, Provider: filter, After: all[i].Next})
					if len(rest) != want-i-1 {
						t.Errorf("%d records follow number %d of %s, want %d", len(rest), i, filter, want-i-1)
					}
				}
			}
		}
	})
}

// TestGrowingRows has pages that turn out larger than the ones before them: they are cut
// short, and nothing is lost.
func TestGrowingRows(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		store, org := open(t, on.fresh(t).Options), uuid.New()
		var want []int
		for _, size := range []int{10, 10, 10, 90_000, 10, 90_000, 90_000} {
			batch := batchOf(org, 100)
			for i := range batch.Resources {
				batch.Resources[i].Attributes = fmt.Appendf(nil, `{"a":"%s"}`, strings.Repeat("x", size+i))
				want = append(want, len(batch.Resources[i].Attributes))
			}
			appendTo(t, store, batch)
		}
		for _, order := range []inventory.Order{inventory.Ascending, inventory.Descending} {
			var got []int
			for r, err := range store.Records(t.Context(), org, inventory.Query{Order: order}) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, len(r.Attributes))
			}
			if order == inventory.Descending {
				slices.Reverse(got)
			}
			if !slices.Equal(got, want) {
				t.Errorf("descending %v: %d records, and not those that were sent", order, len(got))
			}
		}
	})
}

// TestMillionRecords reads a million records, and looks at the heap meanwhile.
func TestMillionRecords(t *testing.T) {
	t.Run("Few", func(t *testing.T) {
		onServers(t, func(t *testing.T, on testServer) { checkManyRecords(t, on, 20_000) })
	})
	t.Run("Many", func(t *testing.T) {
		suite.Deep(t)
		if suite.UnderRace {
			t.Skip("make deep runs this without the detector")
		}
		onServers(t, func(t *testing.T, on testServer) { checkManyRecords(t, on, 1_000_000) })
	})
}

func checkManyRecords(t *testing.T, on testServer, total int) {
	d := on.fresh(t)
	store, org := open(t, d.Options), uuid.New()
	fillDirectly(t, d, store, org, total)
	before := liveHeap()
	var highest uint64
	began, n := time.Now(), 0
	for _, err := range store.Records(t.Context(), org, inventory.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%(total/10) == 0 {
			highest = max(highest, liveHeap())
		}
	}
	if n != total {
		t.Errorf("%d records, want %d", n, total)
	}
	grown := int64(highest) - int64(before)
	t.Logf("%d records in %v, %.0f a second; the heap grew by %d KiB", n, time.Since(began).Round(time.Millisecond),
		float64(n)/time.Since(began).Seconds(), grown>>10)
	if grown > 16<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}

// fillDirectly inserts records by statements of the test's own.
func fillDirectly(t *testing.T, d database, store *Store, org uuid.UUID, total int) {
	t.Helper()
	appendTo(t, store, batchOf(org, 1))
	columns := "timestamp, org_id, provider, category, resource_type, resource_name, attributes"
	attributes := `CONCAT('{"a":"', REPEAT('x', 300), '"}')`
	if store.speaks().isPostgres() {
		attributes = "CAST(" + attributes + " AS json)"
	}
	statements := []string{fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s WHERE id = 1", tableOf(org), columns,
		strings.Replace(columns, "attributes", attributes, 1), tableOf(org)),
		fmt.Sprintf("DELETE FROM %s WHERE id = 1", tableOf(org))}
	rows := 1
	for rows < total {
		more := min(rows, total-rows)
		statements = append(statements,
			fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s LIMIT %d", tableOf(org), columns, columns, tableOf(org), more))
		rows += more
	}
	d.exec(t, statements...)
}

// liveHeap returns the bytes that are in use.
func liveHeap() uint64 {
	runtime.GC()
	runtime.GC() // what pools kept goes with the second
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
