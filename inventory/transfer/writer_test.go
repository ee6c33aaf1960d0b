package transfer_test

import (
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
