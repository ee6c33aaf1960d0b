package dual

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/logctx/logtest"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
)

// comparisons are what Compare says, by organization.
func (r *rig) comparisons() map[uuid.UUID]Comparison {
	r.t.Helper()
	all := map[uuid.UUID]Comparison{}
	for c, err := range r.Compare(r.t.Context()) {
		if err != nil {
			r.t.Fatal(err)
		}
		all[c.Org] = c
	}
	return all
}

// TestCompare finds the sides equal when nothing is missing but what is owed or refused.
func TestCompare(t *testing.T) {
	r := newRig(t, nil)
	equal, owed, refused := uuid.UUID{1}, uuid.UUID{2}, uuid.UUID{3}
	for _, org := range []uuid.UUID{equal, owed, refused} {
		r.mustAppend(newBatch(org, "a", 3))
	}
	r.mysql.refusing(tooLarge("b"))
	r.mustAppend(newBatch(refused, "b", 4))
	r.settled()
	r.mysql.org = owed
	r.mysql.set(rejects)
	r.mustAppend(newBatch(owed, "c", 5)) // another one than is refused for good
	all := r.comparisons()
	if len(all) != 3 || all[equal].Differ || all[owed].Differ || all[refused].Differ {
		t.Errorf("%+v", all)
	}
	if c := all[owed]; c.CSV.Records != 8 || c.MySQL.Records != 3 || c.MySQL.Owed != 5 ||
		!c.CSV.Newest.After(c.MySQL.Newest.Time) {
		t.Errorf("%+v", c)
	}
	if c := all[refused]; c.CSV.Records != 7 || c.MySQL.Records != 3 || c.MySQL.Refused != 4 {
		t.Errorf("%+v", c)
	}
}

// TestComparedAtOpen says loudly when a side was restored from a backup: it lacks records
// that nobody owes it, or has others in their stead.
func TestComparedAtOpen(t *testing.T) {
	one, other := uuid.UUID{1}, uuid.UUID{2}
	whole := []filing{{one, 0, 2}, {one, 1, 3}, {other, 0, 1}}
	for what, restored := range map[string][]filing{
		"":                   whole,
		"an upload less":     {{one, 0, 2}, {other, 0, 1}},
		"no organization":    whole[:2],
		"another upload":     {{one, 0, 2}, {one, 2, 3}, {other, 0, 1}},
		"one that is newer":  {{one, 0, 2}, {one, 1, 3}, {one, 2, 1}, {other, 0, 1}},
		"one record is lost": {{one, 0, 1}, {one, 1, 3}, {other, 0, 1}},
	} {
		for _, side := range []name{csv, mysql} {
			now := &clock{now: time.Now()}
			var log logtest.Journal
			r := newRig(t, func(o *Options) {
				o.Now, o.Log, o.Watched = now.Now, slog.New(slog.NewTextHandler(&log, nil)), true
				sides := []inventory.Store{o.CSV, o.MySQL}
				fill(t, sides[side], restored)
				fill(t, sides[1-side], whole)
			})
			<-r.compared
			err := r.status(now)
			if r.SidesDiffer() != (what != "") || (err == nil) != (what == "") ||
				strings.Contains(log.String(), "restored from a backup") != (what != "") {
				t.Errorf("%s: differ %v, status %v, log %s", what, r.SidesDiffer(), err, &log)
			}
			if err != nil && (!fault.Is(err, fault.StoreDegraded) || !strings.Contains(err.Error(), "csv and mysql differ")) {
				t.Errorf("%s: status %v", what, err)
			}
		}
	}
}

// filing is an upload that a side has: of so many records, so many hours after the first.
type filing struct {
	org          uuid.UUID
	hour, amount int
}

func fill(t *testing.T, store inventory.Store, all []filing) {
	t.Helper()
	for _, f := range all {
		batch := newBatch(f.org, fmt.Sprint(f.hour), f.amount)
		batch.At = time.Date(2026, 3, 4, f.hour, 0, 0, 0, time.UTC)
		if _, err := store.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
}

// TestComparedOnceBothAreThere waits for a side that is away when the store is opened.
func TestComparedOnceBothAreThere(t *testing.T) {
	now := &clock{now: time.Now()}
	away := &faulty{Store: inventorytest.New(), mode: fails}
	r := newRig(t, func(o *Options) {
		o.Now, o.Watched, o.MySQL = now.Now, true, away
		fill(t, o.CSV, []filing{{uuid.UUID{1}, 0, 1}})
	})
	if r.SidesDiffer() {
		t.Error("a side that is away was compared")
	}
	away.set(works)
	if !soon(func() bool { now.advance(time.Second); return r.SidesDiffer() }) {
		t.Error("the sides are not compared when both are there")
	}
}

// TestCompareWithUnanswered compares while a side is owed what it has already: its answer was lost, and
// nobody is about to send the upload again for a while. That is no difference.
func TestCompareWithUnanswered(t *testing.T) {
	for _, side := range []name{csv, mysql} {
		waits := make(chan struct{}, 1)
		r := newRig(t, func(o *Options) {
			o.After = func(wait time.Duration) <-chan time.Time {
				if wait == firstWait {
					return time.After(10 * time.Millisecond)
				}
				waits <- struct{}{}
				return nil // the end of a long wait
			}
		})
		lost, org := []*faulty{r.csv, r.mysql}[side], uuid.UUID{1}
		lost.set(lies)
		r.mustAppend(newBatch(org, "a", 3))
		<-waits
		lost.set(works)
		if c := r.comparisons()[org]; c.Differ {
			t.Errorf("%v: %+v", side, c)
		}
		if owed := r.Backlog()[side.String()]; owed != 0 {
			t.Errorf("%v is still owed %d uploads", side, owed)
		}
	}
}

// goingAway is a side that is away for so many calls of Summary.
type goingAway struct {
	inventory.Store
	calls atomic.Int64
}

func (g *goingAway) Summary(ctx context.Context, org uuid.UUID) ([]inventory.Group, error) {
	if g.calls.Add(-1) >= 0 {
		return nil, errAway()
	}
	return g.Store.Summary(ctx, org)
}

// TestComparedWhileASideGoesAway has a side go away in the middle of the comparison: it goes on when
// that is back, with the organizations that were not compared.
func TestComparedWhileASideGoesAway(t *testing.T) {
	now := &clock{now: time.Now()}
	r := newRig(t, func(o *Options) {
		side := &goingAway{Store: o.MySQL}
		side.calls.Store(3)
		o.Now, o.Watched, o.MySQL = now.Now, true, side
		fill(t, o.CSV, []filing{{uuid.UUID{1}, 0, 2}, {uuid.UUID{2}, 0, 1}})
		fill(t, o.MySQL, []filing{{uuid.UUID{1}, 0, 1}, {uuid.UUID{2}, 0, 1}})
	})
	<-r.compared
	if !r.SidesDiffer() {
		t.Error("an organization that could not be compared at once was not compared later")
	}
}
