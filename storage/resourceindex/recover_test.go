package resourceindex

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/resources"
)

func (x *Index) mustFind(t *testing.T, org uuid.UUID, want int) {
	t.Helper()
	found, _, err := x.Search(t.Context(), org, all, resources.Query{Limit: 100})
	if err != nil || len(found) != want {
		t.Errorf("found %d, want %d: %v", len(found), want, err)
	}
}

// A file that is gone is noticed at once: every call says so, until there is a new one. The
// WAL that it left is not taken for that of a file in its place.
func TestRemovedFile(t *testing.T) {
	for what, change := range map[string]func(path string) error{
		"removed":  os.Remove,
		"renamed":  func(path string) error { return os.Rename(path, path+".old") },
		"replaced": func(path string) error { return os.Rename(filepath.Join(filepath.Dir(path), "other.db"), path) },
	} {
		path := filepath.Join(t.TempDir(), "resources.db")
		org := uuid.New()
		other := openAt(t, filepath.Join(filepath.Dir(path), "other.db"))
		fill(t, other, org, 3)
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		x := openAt(t, path)
		fill(t, x, org, 10)
		x.mustFind(t, org, 10)
		if err := change(path); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			_, _, err := x.Search(t.Context(), org, all, resources.Query{Limit: 100})
			if written := x.Advance(t.Context(), resources.Position{Sequence: 1}); x.Usable() ||
				!fault.Is(err, fault.StoreUnavailable) || !fault.Is(written, fault.StoreUnavailable) {
				t.Fatalf("%s: usable %v, a search: %v, a change: %v", what, x.Usable(), err, written)
			}
		}
		if err := x.Recover(t.Context()); err != nil || !x.Usable() {
			t.Fatalf("%s: %v", what, err)
		}
		x.mustFind(t, org, 0)
		fill(t, x, org, 10)
		x.mustFind(t, org, 10)
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A file of something else stays as it is; without it there is an index again.
func TestFileOfSomethingElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "resources.db")
	if err := os.WriteFile(path, []byte("a letter"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := New(path, discard())
	defer x.Close()
	for range 3 {
		err := x.Recover(t.Context())
		_, asked := x.Position(t.Context())
		if !fault.Is(err, fault.StoreUnavailable) || !fault.Is(asked, fault.StoreUnavailable) || x.Usable() {
			t.Errorf("usable %v: %v, %v", x.Usable(), err, asked)
		}
	}
	if raw, err := os.ReadFile(path); string(raw) != "a letter" {
		t.Errorf("the file has %q, %v", raw, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := x.Recover(t.Context()); err != nil || !x.Usable() {
		t.Error(err)
	}
}

// Who searches while the index is opened again finds something or is told why not.
func TestRecoverBesideSearches(t *testing.T) {
	path := filepath.Join(t.TempDir(), "resources.db")
	x := openAt(t, path)
	defer x.Close()
	org := uuid.New()
	done := make(chan struct{})
	var searches sync.WaitGroup
	for range 4 {
		searches.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if _, _, err := x.Search(t.Context(), org, all, resources.Query{Limit: 10}); err != nil &&
					!fault.Is(err, fault.StoreUnavailable) {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 20 {
		fill(t, x, org, 1)
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
		if err := x.Recover(t.Context()); err != nil {
			t.Error(err)
		}
	}
	close(done)
	searches.Wait()
}
