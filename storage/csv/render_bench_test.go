package csv

import (
	"testing"

	"github.com/google/uuid"
	"github.com/holdfast/holdfast/bench/sample"
	"github.com/holdfast/holdfast/inventory"
)

// BenchmarkRender makes the rows of a report of 100 instances.
func BenchmarkRender(b *testing.B) {
	upload, err := inventory.Parse(sample.NewUpload(100, 1).Bytes())
	if err != nil {
		b.Fatal(err)
	}
	var s Store
	batch := inventory.Batch{ID: "bench", Org: uuid.New(), Resources: upload.Resources}
	b.ReportAllocs()
	for b.Loop() {
		p, err := s.render(batch)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(p.rows)))
		s.buffers.give(p.rows)
	}
}
