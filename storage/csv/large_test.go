package csv

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/csvrow"
)

// TestManyOrganizations appends to ten thousand files, and reads them, with few of them
// open at a time.
func TestManyOrganizations(t *testing.T) {
	large(t, 600, 10_000, checkManyOrganizations) // 600 are twice as many as may be open
}

// large runs a test on few and on many; the detector sees nothing more in many.
func large(t *testing.T, few, many int, check func(t *testing.T, n int)) {
	t.Run("Few", func(t *testing.T) { check(t, few) })
	t.Run("Many", func(t *testing.T) {
		suite.Deep(t)
		if suite.UnderRace {
			t.Skip("make deep runs this without the detector")
		}
		check(t, many)
	})
}

func checkManyOrganizations(t *testing.T, n int) {
	before := openFiles(t)
	s := openIn(t, Options{Dir: t.TempDir()})
	orgs := make(chan uuid.UUID)
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			for org := range orgs {
				for range 2 {
					if _, err := s.Append(t.Context(), newBatch(org, 1)); err != nil {
						t.Errorf("Append: %v", err)
					}
				}
				if got := len(names(t, s, org)); got != 2 {
					t.Errorf("%d records, want 2", got)
				}
			}
		})
	}
	most := 0
	for i := range n {
		orgs <- uuid.New()
		if i%50 == 0 {
			most = max(most, openFiles(t)-before)
		}
	}
	close(orgs)
	wg.Wait()
	if t.Logf("at most %d open files", most); most > 300 {
		t.Errorf("%d files were open at a time", most)
	}
	if got := len(organizations(t, s)); got != n {
		t.Errorf("%d organizations, want %d", got, n)
	}
}

func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("open files can't be counted here")
	}
	return len(entries)
}

// TestMillionRecords adopts and reads a large file in both directions with little memory.
func TestMillionRecords(t *testing.T) { large(t, 20_000, 1_000_000, checkManyRecords) }

func checkManyRecords(t *testing.T, n int) {
	dir, org := t.TempDir(), uuid.New()
	s := openDir(t, dir)
	writeLarge(t, s.path(org), org, n)
	runtime.GC()
	start := time.Now()
	if err := s.check(t.Context(), org); err != nil {
		t.Fatal(err)
	}
	t.Logf("adopted in %v", time.Since(start))
	for _, order := range []inventory.Order{inventory.Ascending, inventory.Descending} {
		most, count, start := uint64(0), 0, time.Now()
		var previous time.Time
		for r, err := range s.Records(t.Context(), org, inventory.Query{Order: order}) {
			if err != nil {
				t.Fatal(err)
			}
			if count > 0 && (r.Timestamp.Before(previous) == (order == inventory.Ascending)) && r.Timestamp != previous {
				t.Fatalf("%v comes after %v", r.Timestamp, previous)
			}
			previous = r.Timestamp
			if count++; count%(n/20) == 0 {
				most = max(most, heap())
			}
		}
		t.Logf("%d records in %v, at most %d MiB of heap", count, time.Since(start), most>>20)
		if count != n || most > 64<<20 {
			t.Errorf("%d records with %d bytes of heap", count, most)
		}
	}
	checkSeek(t, s, org, n)
}

// checkSeek reads the last records by their time, which must not take a look at the rest.
func checkSeek(t *testing.T, s *Store, org uuid.UUID, n int) {
	start, count := time.Now(), 0
	for _, err := range s.Records(t.Context(), org,
		inventory.Query{Since: startOfLarge().Add(time.Duration(n-10) * time.Microsecond)}) {
		if err != nil {
			t.Fatal(err)
		}
		count++
	}
	if took := time.Since(start); count != 10 || took > time.Second {
		t.Errorf("%d records in %v", count, took)
	}
}

func startOfLarge() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }

func writeLarge(t *testing.T, path string, org uuid.UUID, n int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	w := bufio.NewWriterSize(f, 1<<20)
	_, _ = w.WriteString(csvrow.Header)
	var row []byte
	for i := range n {
		row = csvrow.AppendRecord(row[:0],
			inventory.Record{Timestamp: startOfLarge().Add(time.Duration(i) * time.Microsecond), Org: org,
				Resource: inventory.Resource{Provider: "aws", Category: "compute", ResourceType: "vm",
					ResourceName: fmt.Sprintf("web-%d", i),
					Attributes: fmt.Appendf(nil,
						`{"id":"i-%08d","size":"t2.micro","zone":"eu-west-1a","tags":{"team":"core","env":"prod"}}`, i)}})
		_, _ = w.Write(row)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// Scenario: a segment has a small row and a large one, which the query does not want. Check:
// the reader hears of the memory for both before it has a record, and can refuse it.
func TestLargeRecordsAskForMemory(t *testing.T) {
	const large = 4 << 20
	s, none := openIn(t, Options{Dir: t.TempDir()}), errors.New("no memory")
	b := newBatch(uuid.New(), 2)
	b.Resources[1].Attributes = []byte(`{"large":"` + strings.Repeat("x", large) + `"}`)
	upload(t, s, b)
	var asked int64
	for _, refusal := range []error{nil, none} {
		query := inventory.Query{ResourceName: b.Resources[0].ResourceName, Memory: func(n int64) error {
			asked = max(asked, n)
			return refusal
		}}
		count := 0
		for _, err := range s.Records(t.Context(), b.Org, query) {
			if count++; !errors.Is(err, refusal) || asked < 3*large {
				t.Errorf("asked for %d bytes, then %v, want %v", asked, err, refusal)
			}
		}
		if count != 1 {
			t.Errorf("%d answers with %v", count, refusal)
		}
	}
}
