package csv

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

// TestIndexFault has the index refuse an upload whose rows are already in the file.
func TestIndexFault(t *testing.T) {
	dir, org := t.TempDir(), uuid.New()
	s := openDir(t, dir)
	batch := newBatch(org, 1)
	upload(t, s, batch)
	before := contents(t, s.path(org))
	db, err := sql.Open("sqlite", filepath.Join(dir, indexName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Exec("CREATE TRIGGER no BEFORE INSERT ON batches BEGIN SELECT raise(ABORT, 'no'); END"); err != nil {
		t.Fatal(err)
	}
	failing := newBatch(org, 1)
	if _, err := s.Append(t.Context(), failing); err == nil {
		t.Error("an upload succeeded without the index")
	}
	wantBatches(t, s, org, batch)
	if contents(t, s.path(org)) != before {
		t.Error("the file has rows of the failed upload")
	}
	if _, err := db.Exec("DROP TRIGGER no"); err != nil {
		t.Fatal(err)
	}
	if receipt := upload(t, s, failing); receipt.Replayed {
		t.Error("the failed upload was recorded")
	}
	wantBatches(t, s, org, batch, failing)
}

// TestUncertainCommit has the index's COMMIT fail in a way that leaves open whether it
// happened: the next use of the organization finds out, and either is right.
func TestUncertainCommit(t *testing.T) {
	for _, happened := range []bool{true, false} {
		for _, restart := range []bool{true, false} {
			t.Run(fmt.Sprintf("happened %v, restart %v", happened, restart), func(t *testing.T) {
				checkUncertain(t, happened, restart)
			})
		}
	}
}

func checkUncertain(t *testing.T, happened, restart bool) {
	dir, org := t.TempDir(), uuid.New()
	s := openDir(t, dir)
	first, open := newBatch(org, 2), newBatch(org, 3)
	upload(t, s, first)
	leaveOpen(t, s, open, happened)
	if restart {
		shut(t, s)
		s = openDir(t, dir)
	}
	want := []inventory.Batch{first}
	if happened {
		want = append(want, open)
	}
	wantBatches(t, s, org, want...)
	if receipt := upload(t, s, open); receipt.Replayed != happened {
		t.Errorf("%+v", receipt)
	}
	wantBatches(t, s, org, first, open)
	if t := s.tenants.acquire(org); t.dirty() || t.tail != nil {
		panic("the organization is still unsettled")
	}
}

// leaveOpen takes an upload as far as an uncertain commit does.
func leaveOpen(t *testing.T, s *Store, b inventory.Batch, happened bool) {
	t.Helper()
	tn := s.tenants.acquire(b.Org)
	defer s.tenants.release(tn)
	u, err := s.render(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := tn.ready(); err != nil {
		t.Fatal(err)
	}
	p, err := tn.newPlan([]*pending{u})
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.files.acquire(b.Org, tn.path)
	if err != nil {
		t.Fatal(err)
	}
	now, err := tn.writeFile(f, p)
	if err != nil {
		t.Fatal(err)
	}
	p.change.Head.Seal = now.seal
	if happened {
		if _, err := s.index.Commit(p.change); err != nil {
			t.Fatal(err)
		}
	}
	tn.tail, tn.unsettled = f, p
	tn.look(func(v *view) { v.writing = true })
}
