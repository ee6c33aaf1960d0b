package states

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
)

// derived is what does not follow from the rest in a database.
func derived(t testing.TB, d database) Derived {
	t.Helper()
	db := d.open(t)
	defer db.Close()
	tx, err := db.BeginTx(context.Background(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	off, err := CheckDerived(repairing{context.Background(), tx}, dialectOf(t, d).Dialect)
	if err != nil {
		t.Fatal(err)
	}
	return off
}

func dialectOf(t testing.TB, d database) dialect {
	t.Helper()
	server, err := serverOf(d.options())
	if err != nil {
		t.Fatal(err)
	}
	return server.dialect()
}

func (d Derived) isSound() bool {
	return len(d.Miscounted) == 0 && d.States == 0 && d.Locks == 0 && d.Unlisted == 0
}

// TestRepairWhileWritten repairs counts while nodes write and move the journal: they are right in the end, though
// several repair at once, and though some organization had no count any more.
func TestRepairWhileWritten(t *testing.T) { onEach(t, testRepairWhileWritten) }

func testRepairWhileWritten(t *testing.T, on kind) {
	d := on.new(t)
	s := open(t, d.options())
	orgs := []uuid.UUID{uuid.New(), uuid.New()}
	for _, org := range orgs {
		for n := range 3 {
			put(t, s, state.Ref{Org: org, Name: state.Name(fmt.Sprint("s", n))}, fmt.Appendf(nil, "%200d", n))
		}
	}
	if _, _, err := s.Chain(t.Context(), orgs[0], 0, 1); err != nil { // the journal has moved by then
		t.Fatal(err)
	}
	d.exec(t, "UPDATE state_usage SET bytes = bytes + 4711 WHERE org = '"+orgs[0].String()+"'",
		"DELETE FROM state_usage WHERE org = '"+orgs[1].String()+"'", "UPDATE state_log SET states = 0, locks = 5",
		"UPDATE state_heads SET is_locked = 1, is_deleted = 1 WHERE name = 's1'")
	off := derived(t, d)
	if len(off.Miscounted) != 2 || off.States != 6 || off.Locks != -5 || off.Unlisted != 2 {
		t.Fatalf("found: %+v", off)
	}
	var writes sync.WaitGroup
	for i := range 4 {
		writes.Go(func() {
			for n := range 12 {
				ref := state.Ref{Org: orgs[i%2], Name: state.Name(fmt.Sprint("w", i, n%3))}
				body := fmt.Appendf(nil, "%300d", n)
				if _, err := s.Update(t.Context(), ref, body, write(body)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	o := d.options()
	var repairs sync.WaitGroup
	for range 2 {
		repairs.Go(func() {
			if err := errors.Join(CountUsage(t.Context(), o), CountTotals(t.Context(), o),
				MarkForLists(t.Context(), o)); err != nil {
				t.Error(err)
			}
		})
	}
	repairs.Wait()
	writes.Wait()
	if off := derived(t, d); !off.isSound() {
		t.Errorf("after the repair: %+v", off)
	}
	if totals, err := s.Totals(t.Context()); err != nil || totals.States != 18 || totals.Locks != 0 {
		t.Errorf("%+v, %v", totals, err)
	}
}
