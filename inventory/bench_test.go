package inventory

import (
	"testing"

	"github.com/holdfast/holdfast/bench/sample"
)

// BenchmarkParse reads a report of 100 instances, as it is sent and with white space in it.
func BenchmarkParse(b *testing.B) {
	body := sample.NewUpload(100, 1).Bytes()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(body); err != nil {
			b.Fatal(err)
		}
	}
}
