package csv

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/bench/sample"
	"github.com/holdfast/holdfast/inventory"
)

const writers = 16

// BenchmarkUpload records uploads of 100 instances, 16 at a time.
func BenchmarkUpload(b *testing.B) {
	for _, orgs := range []int{1, writers} {
		b.Run(fmt.Sprintf("organizations=%d", orgs), func(b *testing.B) {
			s := openDir(b, b.TempDir())
			ids := make([]uuid.UUID, orgs)
			for i := range ids {
				ids[i] = uuid.New()
			}
			report := reported(b)
			b.SetBytes(int64(len(rowsOf(benchBatch(ids[0], 1, report)))))
			together(b, func(worker, i int) error {
				_, err := s.Append(b.Context(), benchBatch(ids[worker%orgs], i, report))
				return err
			})
		})
	}
}

// BenchmarkFloor appends the same bytes to one file, with as few syncs as can be.
func BenchmarkFloor(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "floor"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows := rowsOf(benchBatch(uuid.New(), 1, reported(b)))
	b.SetBytes(int64(len(rows)))
	type request struct{ done chan error }
	queue := make(chan request, writers)
	go func() {
		for r := range queue {
			group := []request{r}
			for len(queue) > 0 {
				group = append(group, <-queue)
			}
			var all []byte
			for range group {
				all = append(all, rows...)
			}
			_, err := f.Write(all)
			if err == nil {
				err = f.Sync()
			}
			for _, r := range group {
				r.done <- err
			}
		}
	}()
	together(b, func(int, int) error {
		r := request{make(chan error, 1)}
		queue <- r
		return <-r.done
	})
	close(queue)
}

// together has the writers share b.N calls.
func together(b *testing.B, call func(worker, i int) error) {
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for worker := range writers {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := call(worker, int(i)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "uploads/s")
}

// reported are the 100 instances that a provider reports.
func reported(b *testing.B) []inventory.Resource {
	upload, err := inventory.Parse(sample.NewUpload(100, 1).Bytes())
	if err != nil {
		b.Fatal(err)
	}
	return upload.Resources
}

func benchBatch(org uuid.UUID, i int, report []inventory.Resource) inventory.Batch {
	return inventory.Batch{ID: fmt.Sprint("bench-", i), Org: org, Resources: report, New: true}
}

// BenchmarkRender makes the rows of an upload, without the store around it.
func BenchmarkRender(b *testing.B) {
	var s Store
	batch := benchBatch(uuid.New(), 1, reported(b))
	b.ReportAllocs()
	for b.Loop() {
		p, err := s.render(batch)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(p.rows)))
		s.buffers.release(p.rows)
	}
}

func BenchmarkRecords(b *testing.B) {
	for _, order := range []inventory.Order{inventory.Ascending, inventory.Descending} {
		b.Run(fmt.Sprintf("descending=%v", order), func(b *testing.B) {
			s, org := openDir(b, b.TempDir()), uuid.New()
			report := reported(b)
			for i := range 100 {
				upload(b, s, benchBatch(org, i, report))
			}
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range s.Records(b.Context(), org, inventory.Query{Order: order}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.N)*10_000/b.Elapsed().Seconds(), "records/s")
		})
	}
}
