package csv

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/csvrow"
)

// baseline is a file as another program wrote it: with LF, nanoseconds and loose JSON.
func baseline(org uuid.UUID) string {
	return strings.ReplaceAll(csvrow.Header, "\r", "") +
		"2024-01-02T03:04:05.123456789Z," + org.String() + `,aws,compute,vm,web-1,"{""size"":""t2.micro"",""n"":1.50}"` +
		"\n" +
		"2024-01-02T03:04:05.123456789Z," + org.String() + `,aws,compute,vm,"web
2","{ ""size"": ""t2 micro"" }"` + "\n" +
		"2024-01-02T04:04:06+01:00," + org.String() + `,gcp,network,net,web-3,{}` + "\n"
}

func baselineRecords(org uuid.UUID) []inventory.Record {
	at := time.Date(2024, 1, 2, 3, 4, 5, 123456000, time.UTC)
	vm := inventory.Resource{Provider: "aws", Category: "compute", ResourceType: "vm"}
	one, two := vm, vm
	one.ResourceName, one.Attributes = "web-1", []byte(`{"size":"t2.micro","n":1.50}`)
	two.ResourceName, two.Attributes = "web\n2", []byte(`{"size":"t2 micro"}`)
	three := inventory.Resource{Provider: "gcp", Category: "network", ResourceType: "net", ResourceName: "web-3",
		Attributes: []byte(`{}`)}
	return []inventory.Record{{Timestamp: at, Org: org, Resource: one}, {Timestamp: at, Org: org, Resource: two},
		{Timestamp: time.Date(2024, 1, 2, 3, 4, 6, 0, time.UTC), Org: org, Resource: three}}
}

func records(t *testing.T, s *Store, org uuid.UUID, q inventory.Query) (all []inventory.Record) {
	t.Helper()
	for r, err := range s.Records(t.Context(), org, q) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r.Record)
	}
	return all
}

func TestAdoption(t *testing.T) {
	dir := t.TempDir()
	forms := map[string]func(string) string{
		"LF":          func(s string) string { return s },
		"CRLF":        func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"mixed":       func(s string) string { return strings.Replace(s, "\n", "\r\n", 1) },
		"no line end": func(s string) string { return strings.TrimSuffix(s, "\n") },
		"half a line end": func(s string) string {
			return strings.TrimSuffix(strings.ReplaceAll(s, "\n", "\r\n"), "\n")
		},
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			org := uuid.New()
			want := baselineRecords(org)
			if name == "CRLF" || name == "half a line end" {
				want[1].ResourceName = "web\r\n2"
			}
			write(t, filepath.Join(dir, org.String()+".csv"), form(baseline(org)))
			s := openDir(t, dir)
			defer shut(t, s)
			if !slices.Contains(organizations(t, s), org) {
				t.Error("Organizations lacks it")
			}
			for range 2 {
				if diff := cmp.Diff(want, records(t, s, org, inventory.Query{})); diff != "" {
					t.Fatal(diff)
				}
				next := newBatch(org, 1)
				want = append(want, inventory.Record{Timestamp: upload(t, s, next).At, Org: org, Resource: next.Resources[0]})
				shut(t, s)
				s = openDir(t, dir)
			}
			groups, err := s.Summary(t.Context(), org)
			if err != nil || len(groups) != 2 || groups[0].Count != 4 || groups[1].Count != 1 {
				t.Errorf("%+v %v", groups, err)
			}
			down := records(t, s, org, inventory.Query{Order: inventory.Descending})
			slices.Reverse(down)
			if diff := cmp.Diff(want, down); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func organizations(t *testing.T, s *Store) (all []uuid.UUID) {
	t.Helper()
	for org, err := range s.Organizations(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, org)
	}
	return all
}

// TestAdoptionOfTornFile finds half a row at the end, which the crash of another program
// left.
func TestAdoptionOfTornFile(t *testing.T) {
	dir, org := t.TempDir(), uuid.New()
	torn := "2024-01-02T03:04:07Z," + org.String() + `,aws,compute,vm,web-4,"{""size"`
	write(t, filepath.Join(dir, org.String()+".csv"), baseline(org)+torn)
	s := openDir(t, dir)
	if diff := cmp.Diff(baselineRecords(org), records(t, s, org, inventory.Query{})); diff != "" {
		t.Fatal(diff)
	}
	if got := kept(t, dir, org); !slices.Equal(got, []string{torn}) {
		t.Errorf("kept %q", got)
	}
}

func TestAdoptionRefused(t *testing.T) {
	dir := t.TempDir()
	var logged bytes.Buffer
	s := openIn(t, Options{Dir: dir, Log: slog.New(slog.NewTextHandler(&logged, nil))})
	good := uuid.New()
	write(t, s.path(good), baseline(good))
	cases := map[string]struct {
		line      int
		old, with string
	}{
		"header":     {1, "provider", "vendor"},
		"mark":       {1, "timestamp", "\ufefftimestamp"},
		"columns":    {2, ",web-1", ""},
		"time":       {2, "2024-01-02T03:04:05.123456789Z", "yesterday"},
		"backwards":  {3, "2024-01-02T03:04:05.123456789Z", "2026-01-02T03:04:05Z"},
		"attributes": {2, `"{""size"":""t2.micro"",""n"":1.50}"`, "null"},
		"quote":      {5, "gcp", "g\"cp"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			org := uuid.New()
			text := strings.Replace(baseline(org), c.old, c.with, 1)
			write(t, s.path(org), text)
			wantRefused(t, s, org, c.line)
			if contents(t, s.path(org)) != text {
				t.Error("the file was touched")
			}
			if len(records(t, s, good, inventory.Query{})) != 3 {
				t.Error("another organization suffers")
			}
			write(t, s.path(org), baseline(org))
			if len(records(t, s, org, inventory.Query{})) != 3 {
				t.Error("it is not taken after it was put right")
			}
		})
	}
	for _, text := range []string{"web-1", "t2.micro"} {
		if strings.Contains(logged.String(), text) {
			t.Errorf("the log has contents: %s", logged.String())
		}
	}
	if strings.Count(logged.String(), "upload file refused") != len(cases) {
		t.Errorf("each refusal is logged once:\n%s", logged.String())
	}
}

// TestOtherOrganizationsFile has rows of one organization in the file of another.
func TestOtherOrganizationsFile(t *testing.T) {
	s, org := openDir(t, t.TempDir()), uuid.New()
	write(t, s.path(org), baseline(uuid.New()))
	wantRefused(t, s, org, 2)
}

// TestLostIndex makes the index again from the files.
func TestLostIndex(t *testing.T) {
	dir, org := t.TempDir(), uuid.New()
	s := openDir(t, dir)
	batches := tenUploads(t, s, org)
	want, err := s.Summary(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	shut(t, s)
	paths, _ := filepath.Glob(filepath.Join(dir, indexName+"*"))
	for _, path := range paths {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	s = openDir(t, dir)
	wantBatches(t, s, org, batches...)
	got, err := s.Summary(t.Context(), org)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

// TestEmptyForeignFile is one that was made and never written.
func TestEmptyForeignFile(t *testing.T) {
	s, org := openDir(t, t.TempDir()), uuid.New()
	write(t, s.path(org), "")
	wantBatches(t, s, org)
	batch := newBatch(org, 1)
	upload(t, s, batch)
	wantBatches(t, s, org, batch)
}

// TestAdoptionIsOnDisk: whoever wrote a foreign file may not have synced it, and nothing counts on what
// is in it before it is.
func TestAdoptionIsOnDisk(t *testing.T) {
	dir, org, d := t.TempDir(), uuid.New(), &disk{sync: syscall.EIO}
	s := openQuiet(t, dir, d)
	write(t, s.path(org), baseline(org))
	batch := newBatch(org, 1)
	if _, err := s.Append(t.Context(), batch); !fault.Is(err, fault.StoreUnavailable) {
		t.Errorf("an upload behind what is not on disk: %v", err)
	}
	if head, err := s.index.Head(t.Context(), org); head.ID != 0 || err != nil {
		t.Errorf("the index has %+v, %v of it", head, err)
	}
	d.set(func() { d.sync = nil })
	upload(t, s, batch)
	if n := len(names(t, s, org)); n != 4 || d.syncs.Load() < 2 {
		t.Errorf("%d records, %d syncs", n, d.syncs.Load())
	}
}
