package dual

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
)

// rig is a dual store over two faulty sides.
type rig struct {
	*Store
	t          testing.TB
	dir        string
	csv, mysql *faulty
	options    Options
}

func newRig(t testing.TB, change func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), csv: &faulty{Store: inventorytest.New()},
		mysql: &faulty{Store: inventorytest.New()}}
	r.options = Options{
		Dir: r.dir, CSV: r.csv, Database: r.mysql,
		// The waits pass at once, not by the clock.
		After: func(time.Duration) <-chan time.Time { return time.After(time.Millisecond) },
	}
	if change != nil {
		change(&r.options)
	}
	r.Store = open(t, r.options)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return r
}

// reopen closes the store and opens it again.
func (r *rig) reopen() {
	r.t.Helper()
	if err := r.Close(); err != nil {
		r.t.Fatalf("Close: %v", err)
	}
	r.Store = open(r.t, r.options)
}

// crash goes on with the files as they are now, as if the process had died.
func (r *rig) crash() {
	r.t.Helper()
	r.goOn(r.copyOutbox())
}

// goOn gives the store up and opens the copied files.
func (r *rig) goOn(copied string) {
	r.t.Helper()
	if err := r.Close(); err != nil {
		r.t.Fatalf("Close: %v", err)
	}
	r.options.Dir = copied
	r.Store = open(r.t, r.options)
}

// copyOutbox copies the database while the writer is held up.
func (r *rig) copyOutbox() string {
	r.t.Helper()
	to := emptyDir(r.t)
	if err := r.outbox.do(uuid.Nil, func(tx) error { return copyFiles(r.options.Dir, to) }); err != nil {
		r.t.Fatal(err)
	}
	return to
}

func emptyDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "copy")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func copyFiles(from, to string) error {
	for _, name := range []string{databaseName, databaseName + "-wal"} {
		data, err := os.ReadFile(filepath.Join(from, name))
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func newBatch(org uuid.UUID, id string, n int) inventory.Batch {
	b := inventory.Batch{ID: id, Org: org, Request: "request " + id, Digest: sha256.Sum256(fmt.Append(nil, id, n))}
	for i := range n {
		b.Resources = append(b.Resources, inventory.Resource{
			Provider: "aws", Category: "compute", ResourceType: "vm", ResourceName: fmt.Sprint(id, " ", i),
			Attributes: fmt.Appendf(nil, `{"i":%d,"n":1.0,"text":"<\u2028 >"}`, i),
		})
	}
	return b
}

// mustAppend uploads a batch.
func (r *rig) mustAppend(batch inventory.Batch) inventory.Receipt {
	r.t.Helper()
	receipt, err := r.Append(r.t.Context(), batch)
	if err != nil || receipt.Count != len(batch.Resources) || receipt.Request != batch.Request {
		r.t.Fatalf("Append of %s: %+v, %v", batch.ID, receipt, err)
	}
	return receipt
}

func wantCode(t testing.TB, what string, err error, code fault.Code) {
	t.Helper()
	if !fault.Is(err, code) {
		t.Fatalf("%s: error %v, want one with %s", what, err, code)
	}
}

// heal mends both sides and waits until nothing is owed.
func (r *rig) heal() {
	r.t.Helper()
	r.csv.set(works)
	r.mysql.set(works)
	r.settled()
}

// settled waits until nothing is owed, and wants nothing to be held then.
func (r *rig) settled() {
	r.t.Helper()
	if !soon(func() bool { b := r.Backlog(); return b["csv"] == 0 && b["mysql"] == 0 }) {
		r.t.Fatalf("still owed: %v", r.Backlog())
	}
	if bytes := r.heldBytes.Load(); bytes != 0 {
		r.t.Fatalf("nothing is owed, and %d bytes are held", bytes)
	}
}

func soon(done func() bool) bool {
	for range 2000 {
		if done() {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

// lines reads an organization from the store beneath a side.
func lines(t testing.TB, f *faulty, org uuid.UUID) []string {
	t.Helper()
	var all []string
	for record, err := range f.Store.Records(context.Background(), org, inventory.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, line(record.Record))
	}
	return all
}

func line(r inventory.Record) string {
	return fmt.Sprintf("%s %s %s %s", r.Timestamp.Format(time.RFC3339Nano), r.Org, r.ResourceName, r.Attributes)
}

// linesOf is what a batch becomes.
func linesOf(batch inventory.Batch, at time.Time) []string {
	var all []string
	for _, resource := range batch.Resources {
		all = append(all, line(inventory.Record{Timestamp: at, Org: batch.Org, Resource: resource}))
	}
	return all
}

// clock is one that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// wantBacklog waits until the sides are owed so much.
func (r *rig) wantBacklog(csv, mysql int64) {
	r.t.Helper()
	if !soon(func() bool { b := r.Backlog(); return b["csv"] == csv && b["mysql"] == mysql }) {
		r.t.Fatalf("the backlog is %v, want %d and %d", r.Backlog(), csv, mysql)
	}
}

// wantRefused wants the sides to have refused so much.
func (r *rig) wantRefused(csv, mysql int64) {
	r.t.Helper()
	if refused := r.Refused(); refused["csv"] != csv || refused["mysql"] != mysql {
		r.t.Errorf("the sides refused %v, want %d and %d", refused, csv, mysql)
	}
}
