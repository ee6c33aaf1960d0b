package csv

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// edit is what a person or a program may do to a file of a header and ten uploads of one
// row each.
type edit struct {
	name string
	do   func(lines []string) []string // with their line ends
	line int
}

func edits() []edit {
	set := func(i int, change func(string) string) func([]string) []string {
		return func(lines []string) []string {
			lines[i] = change(lines[i])
			return lines
		}
	}
	replace := func(old, with string) func(string) string {
		return func(s string) string { return strings.Replace(s, old, with, 1) }
	}
	return []edit{
		{"a byte of a value", set(4, replace("compute", "commute")), 5},
		{"a byte of the first row", set(1, replace("aws", "awz")), 2},
		{"a byte of the last row", set(10, replace("aws", "awz")), 11},
		{"another organization", set(6, func(s string) string { return s[:28] + uuid.NewString() + s[64:] }), 7},
		{"a timestamp", set(6, func(s string) string { return "2001" + s[4:] }), 7},
		{"a timestamp that is none", set(6, func(s string) string { return "x" + s[1:] }), 7},
		{"attributes", set(6, replace(`"{`, `"[`)), 7},
		{"a quote", set(6, replace(`""batch`, `"xbatch`)), 7},
		{"a column", set(6, replace("aws,", "aws,,")), 7},
		{"a row inserted", func(l []string) []string { return append(l[:6:6], append([]string{l[5]}, l[6:]...)...) }, 7},
		{"an empty line", func(l []string) []string { return append(l[:6:6], append([]string{"\r\n"}, l[6:]...)...) }, 7},
		{"a row deleted", func(l []string) []string { return append(l[:6:6], l[7:]...) }, 7},
		{"rows exchanged", func(l []string) []string { l[5], l[8] = l[8], l[5]; return l }, 6},
		{"the last row deleted", func(l []string) []string { return l[:10] }, 11},
		{"everything deleted", func([]string) []string { return nil }, 1},
		{"another header", set(0, replace("org_id", "tenant")), 1},
		{"no header", func(l []string) []string { return l[1:] }, 1},
		{"a byte order mark", set(0, func(s string) string { return "\ufeff" + s }), 1},
		{"semicolons", set(0, func(s string) string { return strings.ReplaceAll(s, ",", ";") }), 1},
		{"LF in one row", set(6, replace("\r\n", "\n")), 7},
		{"a row appended", func(l []string) []string { return append(l, l[10]) }, 12},
	}
}

// TestEdits changes files behind the back of a running store.
func TestEdits(t *testing.T) {
	s := openDir(t, t.TempDir())
	other, spared := uuid.New(), newBatch(uuid.Nil, 1)
	spared.Org = other
	upload(t, s, spared)
	for _, e := range edits() {
		t.Run(e.name, func(t *testing.T) {
			org := uuid.New()
			batches := tenUploads(t, s, org)
			good := contents(t, s.path(org))
			e.apply(t, s.path(org))
			wantRefused(t, s, org, e.line)
			wantBatches(t, s, other, spared)
			write(t, s.path(org), good)
			wantBatches(t, s, org, batches...) // put right, it is taken again
			upload(t, s, newBatch(org, 1))
		})
	}
}

// apply changes the file as the edit does.
func (e edit) apply(t *testing.T, path string) {
	t.Helper()
	lines := strings.SplitAfter(contents(t, path), "\r\n")
	write(t, path, strings.Join(e.do(lines[:len(lines)-1]), ""))
}

func tenUploads(t *testing.T, s *Store, org uuid.UUID) (batches []inventory.Batch) {
	t.Helper()
	for range 10 {
		batches = append(batches, newBatch(org, 1))
		upload(t, s, batches[len(batches)-1])
	}
	return batches
}

// TestEditsWhileStopped changes files between two runs. A longer file may be one with a
// torn tail only if what stands before is as it was.
func TestEditsWhileStopped(t *testing.T) {
	dir := t.TempDir()
	s := openDir(t, dir)
	orgs := map[uuid.UUID]edit{}
	for _, e := range edits() {
		if e.name != "a row appended" { // that is a torn tail
			org := uuid.New()
			tenUploads(t, s, org)
			orgs[org] = e
		}
	}
	shut(t, s)
	for org, e := range orgs {
		e.apply(t, s.path(org))
	}
	s = openDir(t, dir)
	for org, e := range orgs {
		t.Run(e.name, func(t *testing.T) {
			wantRefused(t, s, org, e.line)
			if got := kept(t, dir, org); len(got) > 0 {
				t.Errorf("kept aside as a torn tail: %q", got)
			}
		})
	}
}

// TestLineEndsConverted is what an editor or a version control system does.
func TestLineEndsConverted(t *testing.T) {
	s, org := openDir(t, t.TempDir()), uuid.New()
	tenUploads(t, s, org)
	write(t, s.path(org), strings.ReplaceAll(contents(t, s.path(org)), "\r\n", "\n"))
	wantRefused(t, s, org, 1)
}

// TestEditOfForgottenUploads has no uploads in the index to compare with: the segment is
// all that is known, unless a row can't be.
func TestEditOfForgottenUploads(t *testing.T) {
	s, org := openDir(t, t.TempDir()), uuid.New()
	tenUploads(t, s, org)
	if n, err := s.index.Prune(time.Now().Add(time.Hour).UnixMicro(), 100); err != nil || n != 10 {
		t.Fatal(n, err)
	}
	good := contents(t, s.path(org))
	i := strings.Index(good, "web") + 500
	write(t, s.path(org), good[:i]+strings.Replace(good[i:], "compute", "commute", 1))
	wantRefused(t, s, org, 2)
	write(t, s.path(org), good[:i]+strings.Replace(good[i:], "aws,", "aws;", 1))
	wantRefused(t, s, org, 2+strings.Count(good[:i+strings.Index(good[i:], "aws,")], "\n")-1)
	write(t, s.path(org), good[:i]+strings.Replace(good[i:], "\r\n", "\n", 1))
	wantRefused(t, s, org, 1+strings.Count(good[:i], "\n"))
}

// TestUnchanged touches files without changing what is in them.
func TestUnchanged(t *testing.T) {
	s, org := openDir(t, t.TempDir()), uuid.New()
	batches := tenUploads(t, s, org)
	path := s.path(org)
	if err := os.Chtimes(path, time.Now(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	wantBatches(t, s, org, batches...)
	write(t, path+"~", contents(t, path)) // as editors save
	if err := os.Rename(path+"~", path); err != nil {
		t.Fatal(err)
	}
	batches = append(batches, newBatch(org, 1))
	upload(t, s, batches[10])
	wantBatches(t, s, org, batches...)
	if !strings.Contains(contents(t, path), batches[10].ID) {
		t.Error("the upload went to the file that was replaced")
	}
}

func TestMissingFile(t *testing.T) {
	s, org := openDir(t, t.TempDir()), uuid.New()
	batches := tenUploads(t, s, org)
	good := contents(t, s.path(org))
	if err := os.Remove(s.path(org)); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, s, org, 1)
	if err := os.Symlink(os.DevNull, s.path(org)); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, s, org, 1)
	if err := os.Remove(s.path(org)); err != nil {
		t.Fatal(err)
	}
	write(t, s.path(org), good)
	wantBatches(t, s, org, batches...)
}

// TestLinesOfLongRows counts the lines of rows that have several.
func TestLinesOfLongRows(t *testing.T) {
	s, org := openDir(t, t.TempDir()), uuid.New()
	long := newBatch(org, 2)
	long.Resources[0].ResourceName = "a\nb\r\nc"
	long.Resources[1].ResourceName = "\n"
	upload(t, s, long)
	upload(t, s, newBatch(org, 1))
	good := contents(t, s.path(org))
	i := strings.LastIndex(good, "compute")
	write(t, s.path(org), good[:i]+"commute"+good[i+7:])
	wantRefused(t, s, org, 2+3+2)
}

// TestEditDuringReading changes a byte that a reading is yet to come to, in place.
func TestEditDuringReading(t *testing.T) {
	s, org := openDir(t, t.TempDir()), uuid.New()
	const n = 5000
	writeLarge(t, s.path(org), org, n)
	good := contents(t, s.path(org))
	i := strings.LastIndex(good, ",aws,")
	count := 0
	var failure error
	for _, err := range s.Records(t.Context(), org, inventory.Query{}) {
		if err != nil {
			failure = err
		} else if count++; count == 1 {
			write(t, s.path(org), good[:i]+",awz"+good[i+4:])
		}
	}
	if !fault.Is(failure, fault.StoreCorrupt) || count < n/2 || count >= n {
		t.Errorf("%d of %d records, then %v", count, n, failure)
	}
}
