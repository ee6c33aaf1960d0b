package transfer_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/transfer"
)

// put writes records as an import does.
func put(t *testing.T, store inventory.Store, records []inventory.Record) (map[uuid.UUID]transfer.Tally, error) {
	t.Helper()
	w := transfer.NewWriter(store, transfer.Options{Request: "import"})
	defer w.Abandon()
	for _, r := range records {
		if err := w.Write(t.Context(), r); err != nil {
			return w.Tallies(), err
		}
	}
	err := w.Close(t.Context())
	return w.Tallies(), err
}

// mixed takes records of both in turns.
func mixed(a, b []inventory.Record) []inventory.Record {
	var all []inventory.Record
	for i := range a {
		all = append(all, a[i], b[i])
	}
	return all
}

func TestWriterTakesOrganizationsInTurns(t *testing.T) {
	to := openCSV(t)
	some := 20
	all := mixed(history(acme)[:some], history(globex)[:some])
	for range 2 {
		if _, err := put(t, to, all); err != nil {
			t.Fatal(err)
		}
		for _, org := range []uuid.UUID{acme, globex} {
			if got, want := measure(t, to, org), measure(t, filled(t, history(org)[:some]...), org); got != want {
				t.Errorf("%s: %+v, want %+v", org, got, want)
			}
		}
	}
}

// What the store has from before is left alone, and what came after an earlier run too.
func TestWriterBetweenOtherRecords(t *testing.T) {
	older, newer := record(acme, start.Add(-time.Hour), "older", `{}`), record(acme, start.Add(time.Hour), "newer", `{}`)
	to := filled(t, older)
	all := history(acme)
	if tallies, err := put(t, to, all); err != nil || tallies[acme] != (transfer.Tally{Added: int64(len(all))}) {
		t.Fatalf("%+v, %v", tallies, err)
	}
	write(t, to, newer)
	if tallies, err := put(t, to, all); err != nil || tallies[acme] != (transfer.Tally{Present: int64(len(all))}) {
		t.Fatalf("%+v, %v", tallies, err)
	}
	want := append(append([]inventory.Record{older}, all...), newer)
	if got, want := measure(t, to, acme), measure(t, filled(t, want...), acme); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestWriterRefuses(t *testing.T) {
	late := filled(t, record(acme, start.Add(time.Minute), "late", `{}`))
	if _, err := put(t, late, history(acme)); !errors.Is(err, transfer.ErrConflict) {
		t.Errorf("a store with newer records: %v", err)
	}
	backwards := []inventory.Record{record(acme, start.Add(1), "b", `{}`), record(acme, start, "a", `{}`)}
	backwards[0].Timestamp = start.Add(time.Microsecond)
	if _, err := put(t, filled(t), backwards); err == nil || !strings.Contains(err.Error(), "order of their timestamps") {
		t.Errorf("timestamps that go backwards: %v", err)
	}
}

// counted counts how often a store is given something, and how many batches that is.
type counted struct {
	inventory.Store
	calls, batches int
}

func (c *counted) Append(ctx context.Context, batch inventory.Batch) (inventory.Receipt, error) {
	c.calls, c.batches = c.calls+1, c.batches+1
	return c.Store.Append(ctx, batch)
}

func (c *counted) AppendAll(ctx context.Context, batches []inventory.Batch) ([]inventory.Receipt, error) {
	c.calls, c.batches = c.calls+1, c.batches+len(batches)
	return c.Store.AppendAll(ctx, batches)
}

// Records of many timestamps share what a commit costs, also when organizations take turns;
// each timestamp stays an upload of its own.
func TestWriterSharesCommits(t *testing.T) {
	const n = 2000
	var all []inventory.Record
	for i := range n {
		org := []uuid.UUID{acme, globex}[i%2]
		all = append(all, record(org, start.Add(time.Duration(i)*time.Second), "web", `{}`))
	}
	to := &counted{Store: filled(t)}
	if _, err := put(t, to, all); err != nil {
		t.Fatal(err)
	}
	if to.batches != n || to.calls > 2*(n/256+1) {
		t.Errorf("%d batches in %d calls", to.batches, to.calls)
	}
	if got := measure(t, to, acme).Count + measure(t, to, globex).Count; got != n {
		t.Errorf("%d records", got)
	}
}
