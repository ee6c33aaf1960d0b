package dual

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
)

// rows counts what is in the outbox's table.
func (r *rig) rows() (n int) {
	r.t.Helper()
	if err := r.outbox.readers.QueryRow(`SELECT count(*) FROM batches`).Scan(&n); err != nil {
		r.t.Fatal(err)
	}
	return n
}

// change runs a statement on the outbox's database.
func (r *rig) change(statement string) {
	r.t.Helper()
	err := r.outbox.do(uuid.Nil, func(t tx) error {
		_, err := t.Exec(statement)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// TestOutboxEmpties keeps nothing that both sides have, without being closed.
func TestOutboxEmpties(t *testing.T) {
	r := newRig(t, nil)
	for range 3 {
		r.mustAppend(newBatch(uuid.New(), "a", 3))
	}
	if !soon(func() bool { return r.rows() == 0 }) {
		t.Errorf("%d rows stay", r.rows())
	}
	r.mysql.set(fails)
	r.mustAppend(newBatch(uuid.New(), "a", 3))
	r.reopen()
	if n := r.rows(); n != 1 {
		t.Errorf("%d rows, one is owed", n)
	}
	r.heal()
	if !soon(func() bool { return r.rows() == 0 }) {
		t.Errorf("%d rows stay", r.rows())
	}
}

// TestOutboxIsPrivate looks at the files' modes, and keeps a second process out.
func TestOutboxIsPrivate(t *testing.T) {
	r := newRig(t, nil)
	r.mustAppend(newBatch(uuid.New(), "a", 1))
	files, err := filepath.Glob(filepath.Join(r.dir, "outbox.*"))
	if err != nil || len(files) < 3 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v, %v", file, info.Mode(), err)
		}
	}
	second, err := Open(t.Context(), r.options)
	if err == nil || !strings.Contains(err.Error(), "another holdfast process") {
		t.Errorf("a second Open: %v, %v", second, err)
	}
}

// TestOutboxOfNewer refuses a schema that it doesn't know.
func TestOutboxOfNewer(t *testing.T) {
	r := newRig(t, nil)
	r.change(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)`)
	copied := r.copyOutbox()
	_, err := Open(t.Context(), Options{Dir: copied, CSV: r.csv, Database: r.mysql})
	if err == nil || !strings.Contains(err.Error(), "newer holdfast") {
		t.Errorf("Open: %v", err)
	}
}

// TestOutboxFails takes no upload that it could not keep.
func TestOutboxFails(t *testing.T) {
	r := newRig(t, nil)
	org := uuid.New()
	r.mustAppend(newBatch(org, "a", 1))
	r.settled()
	r.change(`CREATE TRIGGER no BEFORE INSERT ON batches BEGIN SELECT raise(ABORT, 'no'); END`)
	_, err := r.Append(t.Context(), newBatch(org, "b", 1))
	wantCode(t, "Append", err, fault.StoreUnavailable)
	r.change(`DROP TRIGGER no`)
	r.mustAppend(newBatch(org, "c", 1))
	if got := lines(t, r.csv, org); len(got) != 2 {
		t.Errorf("CSV has %v", got)
	}
	r.wantBoth(org, lines(t, r.csv, org))
}

// TestHungSide costs an organization's first upload the time limit, and the next ones nothing; a server's Open doesn't
// wait for the side once for each organization.
func TestHungSide(t *testing.T) {
	const limit = 300 * time.Millisecond
	r := newRig(t, func(o *Options) { o.SideTimeout, o.Server = limit, true })
	orgs := make([]uuid.UUID, 12)
	for i := range orgs {
		orgs[i] = uuid.New()
		r.mustAppend(newBatch(orgs[i], "before", 1))
	}
	r.mysql.set(hangs)
	for _, org := range orgs[1:] {
		r.mustAppend(newBatch(org, "during", 1))
	}
	r.mysql.refusing(func(b inventory.Batch) error {
		if strings.HasPrefix(b.ID, "more") {
			t.Errorf("the side that hangs is sent %s before what it has missed", b.ID)
		}
		return nil
	})
	for i := range 20 {
		r.mustAppend(newBatch(orgs[1], fmt.Sprint("more-", i), 1))
	}
	r.reopen()
	if owed := r.Backlog()["mysql"]; owed != int64(len(orgs)-1+20) {
		t.Errorf("%d are owed", owed)
	}
	r.mysql.refusing(nil)
	r.heal()
	for _, org := range orgs {
		r.wantBoth(org, lines(t, r.csv, org))
	}
}

// TestOpenEnds gives up when its context ends, and leaves the sides open.
func TestOpenEnds(t *testing.T) {
	r := newRig(t, func(o *Options) { o.SideTimeout = 200 * time.Millisecond })
	org := uuid.New()
	r.mysql.set(fails)
	r.mustAppend(newBatch(org, "a", 1))
	r.mysql.set(hangs)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if s, err := Open(ctx, Options{Dir: r.copyOutbox(), CSV: inventorytest.New(), Database: r.mysql}); err == nil {
		t.Errorf("Open returned %v", s)
	}
	r.heal()
	r.wantBoth(org, lines(t, r.csv, org))
}
