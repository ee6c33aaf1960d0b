package sqluploads

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// BenchmarkAppend uploads ten resources at a time, from as many callers as the server has
// connections and more.
func BenchmarkAppend(b *testing.B) {
	for _, orgs := range []int{1, 50} {
		onServersBench(b, fmt.Sprintf("%d organizations", orgs), func(b *testing.B, d database) {
			store := open(b, d.limited(16))
			for i := range orgs {
				appendTo(b, store, batchOf(uuid.UUID{byte(i + 1)}, 1))
			}
			var next atomic.Int64
			b.SetParallelism(32)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					org := uuid.UUID{byte(next.Add(1)%int64(orgs) + 1)}
					if _, err := store.Append(b.Context(), batchOf(org, 10)); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

// BenchmarkRecords reads a hundred thousand records, over and over; an operation is one.
func BenchmarkRecords(b *testing.B) {
	onServersBench(b, "", func(b *testing.B, d database) {
		store, org := open(b, d.Options), uuid.New()
		for range 1000 {
			appendTo(b, store, batchOf(org, 100))
		}
		b.ResetTimer()
		for n := 0; n < b.N; {
			for _, err := range store.Records(b.Context(), org, inventory.Query{}) {
				if err != nil {
					b.Fatal(err)
				}
				if n++; n == b.N {
					break
				}
			}
		}
	})
}

// onServersBench measures with a database of each kind of server.
func onServersBench(b *testing.B, name string, bench func(b *testing.B, d database)) {
	for _, server := range testServers {
		b.Run(strings.TrimSpace(server.name+" "+name), func(b *testing.B) { bench(b, server.fresh(b)) })
	}
}
