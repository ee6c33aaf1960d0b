package csv

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// TestReaderIsOvertakenBetweenPages removes half of the segment that a page of the index ended with, behind a reader
// that has just read it: no record of its other half comes twice.
func TestReaderIsOvertakenBetweenPages(t *testing.T) {
	s, org := openDir(t, t.TempDir()), uuid.New()
	var batches []inventory.Batch
	for day := range 2*page + 3 { // two records are a segment
		b := newBatch(org, 1)
		b.At = longAgo().AddDate(0, 0, day)
		b.Resources[0].Attributes = fmt.Appendf(nil, `{"day":%d,"large":"%s"}`, day, strings.Repeat("x", segmentSize*2/3))
		upload(t, s, b)
		batches = append(batches, b)
	}
	next, stop := iter.Pull2(s.Records(t.Context(), org, inventory.Query{}))
	defer stop()
	for i, b := range batches {
		if i == 2*page {
			expire(t, s, org, 2*page-1, 2*page-1)
		}
		r, err, ok := next()
		if !ok || err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
		if string(r.Attributes) != string(b.Resources[0].Attributes) {
			t.Fatalf("record %d is %.12s", i, r.Attributes)
		}
	}
	if _, err, ok := next(); ok {
		t.Errorf("there is one more record (%v)", err)
	}
}
