package sqluploads

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
)

// BenchmarkAppend uploads ten resources at a time, from as many callers as the server has
// connections and more.
func BenchmarkAppend(b *testing.B) {
	for _, orgs := range []int{1, 50} {
		b.Run(fmt.Sprintf("%d organizations", orgs), func(b *testing.B) {
			o := optionsFor(mysqltest.New(b))
			o.MaxOpenConns = 16
			store := open(b, o)
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
	store, org := open(b, optionsFor(mysqltest.New(b))), uuid.New()
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
}
