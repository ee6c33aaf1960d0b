package inventorytest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// page reads up to n records and stops.
func page(t *testing.T, store inventory.Store, org uuid.UUID, query inventory.Query, n int) []inventory.Positioned {
	t.Helper()
	var all []inventory.Positioned
	for record, err := range store.Records(t.Context(), org, query) {
		if err != nil {
			t.Fatalf("Records(%+v): %v", query, err)
		}
		if all = append(all, record); len(all) == n {
			break
		}
	}
	return all
}

// pages reads to the end, in pages of random sizes.
func pages(t *testing.T, store inventory.Store, org uuid.UUID, query inventory.Query) []inventory.Record {
	t.Helper()
	var all []inventory.Record
	for {
		got := page(t, store, org, query, 1+rand.IntN(40))
		if len(got) == 0 {
			return all
		}
		all = append(all, bare(got)...)
		query.After = got[len(got)-1].Next
	}
}

// checkPages reads everything page by page.
func checkPages(t *testing.T, store inventory.Store) {
	org := uuid.New()
	all := fillVariety(t, store, org)
	random := rand.New(rand.NewPCG(5, 6))
	for i := range 40 {
		query := inventory.Query{}
		if i > 10 {
			query = someQuery(random, all)
		}
		query.Order = inventory.Order(i%2 == 1)
		want := matching(query, all)
		if query.Order == inventory.Descending {
			slices.Reverse(want)
		}
		wantSame(t, want, pages(t, store, org, query))
	}
}

// checkEveryCursor continues behind every record, and behind the last one once there is
// more.
func checkEveryCursor(t *testing.T, store inventory.Store) {
	org := uuid.New()
	for _, n := range []int{1, 30, 2} {
		upload(t, store, newBatch(org, n))
	}
	for _, order := range []inventory.Order{inventory.Ascending, inventory.Descending} {
		all := mustRead(t, store, org, inventory.Query{Order: order})
		for i, record := range all {
			rest := mustRead(t, store, org, inventory.Query{Order: order, After: record.Next})
			wantSame(t, bare(all[i+1:]), bare(rest))
		}
		last := inventory.Query{Order: order, After: all[len(all)-1].Next}
		batch := newBatch(org, 2)
		more := recordsOf(batch, upload(t, store, batch))
		if order == inventory.Descending {
			more = nil // newer than what the cursor left behind
		}
		wantSame(t, more, bare(mustRead(t, store, org, last)))
	}
}

// checkCursorOfOtherFilters takes a cursor from one query to another: it is a position.
func checkCursorOfOtherFilters(t *testing.T, store inventory.Store) {
	org := uuid.New()
	all := fillVariety(t, store, org)
	random := rand.New(rand.NewPCG(7, 8))
	cursors := mustRead(t, store, org, inventory.Query{})
	for range 20 {
		at, query := random.IntN(len(all)), someQuery(random, all)
		query.After = cursors[at].Next
		wantSame(t, matching(query, all[at+1:]), bare(mustRead(t, store, org, query)))
	}
}

// checkPagesWhileAppending pages in both directions while others append.
func checkPagesWhileAppending(t *testing.T, store inventory.Store) {
	org := uuid.New()
	upload(t, store, newBatch(org, 50))
	done := meanwhile(t, 4, func(int) error {
		for i := range 25 {
			if _, err := store.Append(t.Context(), newBatch(org, 1+i%9)); err != nil {
				return err
			}
		}
		return nil
	})
	var up []inventory.Record
	query, over := inventory.Query{}, false
	for !over {
		select {
		case <-done:
			over = true
		default:
			down := pages(t, store, org, inventory.Query{Order: inventory.Descending})
			slices.Reverse(down)
			all := bare(mustRead(t, store, org, inventory.Query{}))
			if len(all) < len(down) {
				t.Fatalf("%d records are read, after %d of them", len(all), len(down))
			}
			wantSame(t, all[:len(down)], down)
		}
		got := page(t, store, org, query, 1+rand.IntN(20))
		if len(got) > 0 {
			up, query.After = append(up, bare(got)...), got[len(got)-1].Next
		}
	}
	up = append(up, pages(t, store, org, query)...)
	wantRecords(t, store, org, up)
}

// checkCursorInvalid brings cursors that the store never made for this query.
func checkCursorInvalid(t *testing.T, store inventory.Store) {
	org, other := uuid.New(), uuid.New()
	upload(t, store, newBatch(org, 5))
	upload(t, store, newBatch(other, 5))
	for _, order := range []inventory.Order{inventory.Ascending, inventory.Descending} {
		for _, record := range mustRead(t, store, org, inventory.Query{Order: order}) {
			wantInvalid(t, store, org, inventory.Query{Order: !order, After: record.Next})
			wantInvalid(t, store, other, inventory.Query{Order: order, After: record.Next})
			wantInvalid(t, store, uuid.New(), inventory.Query{Order: order, After: record.Next})
			for _, damaged := range damages(record.Next) {
				wantInvalid(t, store, org, inventory.Query{Order: order, After: damaged})
			}
		}
	}
}

// damages returns what is left of a cursor after an accident, and what never was one.
func damages(cursor string) []string {
	all := []string{
		"x", "0", "1", "-1", "AA", "AAAA", "null", "=", "====", " ", "\x00", "😀", "%", "../x", "0x1", "9223372036854775808",
		uuid.Nil.String(), strings.Repeat("A", 128), strings.Repeat("A", 100_000),
		cursor + "A", "A" + cursor, cursor + "=", " " + cursor, cursor + "\n", cursor + cursor,
	}
	for i := range cursor {
		changed := "A"
		if cursor[i] == 'A' {
			changed = "B"
		}
		all = append(all, cursor[:i]+changed+cursor[i+1:])
		if i > 0 { // without any, it is none at all
			all = append(all, cursor[:i], cursor[i:])
		}
	}
	return all
}

func wantInvalid(t *testing.T, store inventory.Store, org uuid.UUID, query inventory.Query) {
	t.Helper()
	got, err := read(t.Context(), store, org, query)
	if !fault.Is(err, fault.CursorInvalid) || len(got) > 0 {
		t.Fatalf("Records(%s): %d records and the error %v, want %s", fmt.Sprintf("%+.200v", query), len(got), err,
			fault.CursorInvalid)
	}
}
