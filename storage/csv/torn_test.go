package csv

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/csvrow"
)

// TestTornTails has a crash wherever an upload that was not acknowledged can be torn: what
// is there of it is cut off and kept aside, and what was acknowledged before stays.
func TestTornTails(t *testing.T) {
	dir := t.TempDir()
	s := openDir(t, dir)
	rows := string(rowsOf(newBatch(uuid.New(), 2)))
	before := map[uuid.UUID]inventory.Batch{}
	tails := map[uuid.UUID]string{}
	for _, n := range tears(rows) {
		for _, rest := range []string{"", strings.Repeat("\x00", len(rows)-n), "\"garbage,\r\n\"\"\n"} {
			org := uuid.New()
			before[org] = newBatch(org, 2)
			tails[org] = rows[:n] + rest
		}
	}
	appendAll(t, s, before)
	shut(t, s)
	for org, tail := range tails {
		path := s.path(org)
		write(t, path, contents(t, path)+tail)
	}
	s = openDir(t, dir)
	for org, tail := range tails {
		wantBatches(t, s, org, before[org])
		if got := kept(t, dir, org); !slices.Equal(got, []string{tail}) {
			t.Fatalf("kept %q, want %q", got, tail)
		}
	}
	for org := range tails {
		next := newBatch(org, 1)
		upload(t, s, next)
		wantBatches(t, s, org, before[org], next)
		break
	}
}

// tears returns the lengths at which rows are torn in another place of their structure than
// one byte before: beside every comma, quote and line break, and within what is between two
// of them. Which byte of a name is the last one makes no difference to anybody.
func tears(rows string) []int {
	torn := []int{1}
	for n := 2; n <= len(rows); n++ {
		if strings.ContainsAny(rows[max(n-3, 0):min(n+1, len(rows))], ",\"\r\n") {
			torn = append(torn, n)
		}
	}
	return torn
}

// appendAll uploads many batches at once.
func appendAll(t *testing.T, s *Store, batches map[uuid.UUID]inventory.Batch) {
	t.Helper()
	errs := make(chan error)
	for _, b := range batches {
		go func() {
			_, err := s.Append(t.Context(), b)
			errs <- err
		}()
	}
	for range batches {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
}

func rowsOf(b inventory.Batch) (rows []byte) {
	for _, r := range b.Resources {
		rows = csvrow.AppendRecord(rows, inventory.Record{Org: b.Org, Resource: r})
	}
	return rows
}

// TestTornFirstUpload has a crash in an organization's first upload, which is no foreign
// file, however whole it looks.
func TestTornFirstUpload(t *testing.T) {
	dir, org := t.TempDir(), uuid.New()
	s := openDir(t, dir)
	if _, err := s.index.Begin(org); err != nil {
		t.Fatal(err)
	}
	shut(t, s)
	batch := newBatch(org, 2)
	torn := csvrow.Header + string(rowsOf(batch))
	write(t, s.path(org), torn)
	s = openDir(t, dir)
	wantBatches(t, s, org)
	for org, err := range s.Organizations(t.Context()) {
		t.Errorf("%v has no records (%v)", org, err)
	}
	if got := kept(t, dir, org); !slices.Equal(got, []string{torn}) {
		t.Errorf("kept %q", got)
	}
	if receipt := upload(t, s, batch); receipt.Replayed {
		t.Error("an upload that was never recorded counts as replayed")
	}
	wantBatches(t, s, org, batch)
	if !strings.HasPrefix(contents(t, s.path(org)), csvrow.Header) {
		t.Error("the header is missing")
	}
}

// TestTornTwice keeps both tails when the clock stands still.
func TestTornTwice(t *testing.T) {
	dir, org, c := t.TempDir(), uuid.New(), newClock()
	s := openIn(t, Options{Dir: dir, Now: c.Now})
	batch := newBatch(org, 1)
	upload(t, s, batch)
	for range 2 {
		shut(t, s)
		write(t, s.path(org), contents(t, s.path(org))+"torn")
		s = openIn(t, Options{Dir: dir, Now: c.Now})
	}
	wantBatches(t, s, org, batch)
	if got := kept(t, dir, org); !slices.Equal(got, []string{"torn", "torn"}) {
		t.Errorf("kept %q", got)
	}
}
