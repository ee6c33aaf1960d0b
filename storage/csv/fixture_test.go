package csv

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

func openIn(t testing.TB, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, s) })
	return s
}

func openDir(t testing.TB, dir string) *Store {
	t.Helper()
	return openIn(t, Options{Dir: dir})
}

func shut(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// newBatch is an upload that no other is like.
func newBatch(org uuid.UUID, n int) inventory.Batch {
	b := inventory.Batch{ID: uuid.NewString(), Org: org, Request: "request"}
	b.Digest = sha256.Sum256([]byte(b.ID))
	for i := range n {
		b.Resources = append(b.Resources, inventory.Resource{Provider: "aws", Category: "compute", ResourceType: "vm",
			ResourceName: fmt.Sprintf("web, %d", i), Attributes: fmt.Appendf(nil, `{"batch":"%s","i":%d}`, b.ID, i)})
	}
	return b
}

func upload(t testing.TB, s *Store, b inventory.Batch) inventory.Receipt {
	t.Helper()
	receipt, err := s.Append(t.Context(), b)
	if err != nil {
		t.Fatalf("Append: %v", err)
	}
	return receipt
}

// names returns the attributes of all records, by which newBatch's are told apart.
func names(t testing.TB, s *Store, org uuid.UUID) (all []string) {
	t.Helper()
	for r, err := range s.Records(t.Context(), org, inventory.Query{}) {
		if err != nil {
			t.Fatalf("Records: %v", err)
		}
		all = append(all, string(r.Attributes))
	}
	return all
}

func wantBatches(t testing.TB, s *Store, org uuid.UUID, batches ...inventory.Batch) {
	t.Helper()
	var want []string
	for _, b := range batches {
		for _, r := range b.Resources {
			want = append(want, string(r.Attributes))
		}
	}
	if diff := cmp.Diff(want, names(t, s, org)); diff != "" {
		t.Fatalf("records (-want +got):\n%s", diff)
	}
}

func firstError(t testing.TB, s *Store, org uuid.UUID, query inventory.Query) error {
	t.Helper()
	for _, err := range s.Records(t.Context(), org, query) {
		if err != nil {
			return err
		}
	}
	return nil
}

// wantRefused holds every way to an organization to a refusal that names the line.
func wantRefused(t testing.TB, s *Store, org uuid.UUID, line int) {
	t.Helper()
	_, appendErr := s.Append(t.Context(), newBatch(org, 1))
	_, summaryErr := s.Summary(t.Context(), org)
	for what, err := range map[string]error{"Append": appendErr, "Summary": summaryErr,
		"Records":        firstError(t, s, org, inventory.Query{}),
		"Records, desc.": firstError(t, s, org, inventory.Query{Order: inventory.Descending})} {
		if !fault.Is(err, fault.StoreCorrupt) {
			t.Errorf("%s: error %v, want %s", what, err, fault.StoreCorrupt)
			continue
		}
		text := fault.From(err).Message
		if !strings.Contains(text, fmt.Sprintf("line %d:", line)) || strings.Contains(text, "batch") {
			t.Errorf("%s: %q does not name line %d, or has contents", what, text, line)
		}
	}
}

func contents(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// kept returns what was kept aside of the organization's file.
func kept(t testing.TB, dir string, org uuid.UUID) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, org.String()+".csv.torn-*"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, path := range paths {
		all = append(all, contents(t, path))
		wantMode(t, path, 0o600)
	}
	return all
}

func wantMode(t testing.TB, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != want {
		t.Errorf("%s has the mode %v, want %v", path, info.Mode().Perm(), want)
	}
}

// clock is a clock that a test moves.
type clock struct{ now atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.now.Store(time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC).UnixNano())
	return c
}

func (c *clock) Now() time.Time       { return time.Unix(0, c.now.Load()) }
func (c *clock) move(d time.Duration) { c.now.Add(int64(d)) }
