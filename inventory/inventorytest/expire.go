package inventorytest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// expiring is an organization of which records expire, and all that was recorded of it.
type expiring struct {
	store    inventory.Store
	org      uuid.UUID
	batches  []inventory.Batch
	receipts []inventory.Receipt
	records  []inventory.Record
}

// upload records resources of several groups at a time.
func (e *expiring) upload(t *testing.T, at time.Time, n int) {
	t.Helper()
	batch := namedBatch(e.org, fmt.Sprint("batch-", len(e.batches)), n)
	batch.At = at
	batch.Resources[0].Provider = []string{"azure", "gcp"}[len(e.batches)/4%2]
	batch.Digest = DigestOf(batch.Resources)
	receipt := upload(t, e.store, batch)
	e.batches, e.receipts = append(e.batches, batch), append(e.receipts, receipt)
	e.records = append(e.records, recordsOf(batch, receipt)...)
}

// left are the records that are not from before a time.
func (e *expiring) left(before time.Time) []inventory.Record {
	return slices.DeleteFunc(slices.Clone(e.records), func(r inventory.Record) bool { return r.Timestamp.Before(before) })
}

// expire calls Expire until nothing is left to remove. After each call the rest is as it was.
func (e *expiring) expire(t *testing.T, before time.Time, limit int) {
	t.Helper()
	want, have := e.left(before), len(mustRead(t, e.store, e.org, inventory.Query{}))
	used := usageOf(t, e.store, e.org)
	for {
		removed, err := e.store.Expire(t.Context(), e.org, before, limit)
		if err != nil || removed < 0 || removed > have-len(want) {
			t.Fatalf("Expire removed %d, %v; there were %d records, and %d stay", removed, err, have, len(want))
		}
		have -= removed
		wantRecords(t, e.store, e.org, e.records[len(e.records)-have:])
		wantSummary(t, e.store, e.org)
		now := usageOf(t, e.store, e.org)
		if removed > 0 && now >= used || removed == 0 && now != used || now < 0 {
			t.Errorf("%d records went, and the usage from %d to %d", removed, used, now)
		}
		if used = now; removed == 0 {
			break
		}
	}
	if have != len(want) {
		t.Fatalf("%d records are left, want %d", have, len(want))
	}
}

// checkInventoryExpire removes the oldest records of one organization of three, in pieces of several sizes. Nothing
// else changes: cursors go on, IDs are remembered, and no timestamp goes back.
func checkInventoryExpire(t *testing.T, store inventory.Store) {
	for _, limit := range []int{1, 4, 10_000} {
		var all [3]*expiring
		start := time.Date(2025, 2, 3, 0, 0, 0, 0, time.UTC)
		for i := range all {
			all[i] = &expiring{store: store, org: uuid.New()}
			for _, hours := range []int{0, 1, 2, 2, 3, 3, 40, 40, 41, 42} {
				all[i].upload(t, start.Add(time.Duration(hours)*time.Hour), 3)
			}
		}
		others := [2]int64{usageOf(t, store, all[0].org), usageOf(t, store, all[2].org)}
		e := all[1]
		given := map[inventory.Order][]inventory.Positioned{}
		for _, order := range []inventory.Order{inventory.Ascending, inventory.Descending} {
			given[order] = mustRead(t, store, e.org, inventory.Query{Order: order})
		}
		for _, hours := range []int{0, 1, 3, 24, 40, 41, 43} {
			before := start.Add(time.Duration(hours) * time.Hour)
			e.expire(t, before, limit)
			e.wantCursors(t, given, e.left(before))
			e.wantRemembered(t)
			wantQuery(t, store, e.org, inventory.Query{Provider: "gcp", Since: start.Add(time.Hour),
				Until: start.Add(41 * time.Hour)}, e.left(before))
		}
		wantOrganizations(t, store, []uuid.UUID{all[0].org, all[2].org})
		if used := usageOf(t, store, e.org); used > 200 {
			t.Errorf("without records, %d bytes are in use", used)
		}
		wantRefusedPast(t, store, e.org, start.Add(41*time.Hour))
		for i, other := range []*expiring{all[0], all[2]} {
			wantRecords(t, store, other.org, other.records)
			wantSummary(t, store, other.org)
			if now := usageOf(t, store, other.org); now != others[i] {
				t.Errorf("another organization uses %d, used %d", now, others[i])
			}
		}
		// It goes on as if nothing had been removed.
		ahead := time.Now().Add(time.Hour).Truncate(time.Microsecond).UTC()
		e.upload(t, ahead, 3)
		e.wantCursors(t, given, e.left(ahead))
		e.expire(t, ahead.Add(time.Microsecond), limit)
		next, told := newBatch(e.org, 2), int64(-1)
		next.Allow = func(used, _ int64) error { told = used; return nil }
		used := usageOf(t, store, e.org)
		receipt := upload(t, store, next)
		if told != used {
			t.Errorf("a batch is told that %d bytes are in use, not %d", told, used)
		}
		if !receipt.At.Equal(ahead.Add(time.Microsecond)) {
			t.Errorf("behind %v, which is gone, a batch was recorded at %v", ahead, receipt.At)
		}
		wantRecords(t, store, e.org, recordsOf(next, receipt))
		for i := range all {
			shredAll(t, store, all[i].org)
		}
	}
	if removed, err := store.Expire(t.Context(), uuid.New(), time.Now(), 9); removed != 0 || err != nil {
		t.Errorf("Expire of nobody's: %d, %v", removed, err)
	}
	wantOrganizations(t, store, nil)
}

func shredAll(t *testing.T, store inventory.Store, org uuid.UUID) {
	t.Helper()
	for removed := 1; removed > 0; {
		var err error
		if removed, err = store.Shred(t.Context(), org, 1000); err != nil {
			t.Fatal(err)
		}
	}
}

// wantCursors goes on behind each record that was there before something expired.
func (e *expiring) wantCursors(t *testing.T, given map[inventory.Order][]inventory.Positioned,
	left []inventory.Record) {
	t.Helper()
	gone := len(e.records) - len(left)
	for i, record := range given[inventory.Ascending] {
		query := inventory.Query{After: record.Next}
		wantSame(t, left[max(i+1-gone, 0):], bare(mustRead(t, e.store, e.org, query)))
	}
	for i, record := range given[inventory.Descending] {
		older := len(given[inventory.Descending]) - 1 - i // records
		want := slices.Clone(left[:max(older-gone, 0)])
		slices.Reverse(want)
		query := inventory.Query{Order: inventory.Descending, After: record.Next}
		wantSame(t, want, bare(mustRead(t, e.store, e.org, query)))
	}
	later := given[inventory.Descending][0].Later
	behind := len(given[inventory.Descending])
	wantSame(t, left[max(behind-gone, 0):], bare(mustRead(t, e.store, e.org, inventory.Query{After: later})))
}

// wantRemembered sends everything again.
func (e *expiring) wantRemembered(t *testing.T) {
	t.Helper()
	for i, batch := range e.batches {
		wantReplay(t, e.store, batch, e.receipts[i])
		want := inventory.Remembered{Receipt: e.receipts[i], Digest: batch.Digest}
		want.Receipt.Replayed = true
		if got, ok, err := e.store.Recorded(t.Context(), e.org, batch.ID); err != nil || !ok || got != want {
			t.Fatalf("Recorded: %+v, %v, %v; want %+v", got, ok, err, want)
		}
	}
	batch := e.batches[0]
	batch.Digest[0]++
	if _, err := e.store.Append(t.Context(), batch); !fault.Is(err, fault.IdempotencyMismatch) {
		t.Fatalf("the ID of a batch that is gone, with another digest: %v", err)
	}
}

// checkExpireEnds calls with a context that has ended: nothing goes.
func checkExpireEnds(t *testing.T, store inventory.Store) {
	e := &expiring{store: store, org: uuid.New()}
	e.upload(t, time.Date(2025, 2, 3, 0, 0, 0, 0, time.UTC), 3)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if removed, err := store.Expire(ctx, e.org, time.Now(), 9); err == nil || removed != 0 {
		t.Errorf("Expire after its end: %d, %v", removed, err)
	}
	wantRecords(t, store, e.org, e.records)
}

// checkExpireMeanwhile has old records go, a few at a time, while others append and read. What stays is read whole, by
// whoever reads; only who is to read what is gone may be told to ask again.
func checkExpireMeanwhile(t *testing.T, store inventory.Store) {
	const old, limit = 30, 100
	e := &expiring{store: store, org: uuid.New()}
	start := time.Date(2025, 2, 3, 0, 0, 0, 0, time.UTC)
	for i := range old {
		e.upload(t, start.Add(time.Duration(i)*time.Hour), 5)
	}
	var mu sync.Mutex
	var fresh []inventory.Record // acknowledged
	acked := func() []inventory.Record {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clip(fresh)
	}
	done := meanwhile(t, 4, func(worker int) error {
		for i := range 15 {
			switch worker {
			case 0:
				before := start.Add(time.Duration(2*i+2) * time.Hour)
				for removed := 1; removed > 0; {
					var err error
					if removed, err = store.Expire(t.Context(), e.org, before, limit); err != nil {
						return err
					}
				}
			case 1:
				batch := newBatch(e.org, 1+i%5)
				receipt, err := store.Append(t.Context(), batch)
				if err != nil {
					return err
				}
				mu.Lock()
				fresh = append(fresh, recordsOf(batch, receipt)...)
				mu.Unlock()
			default:
				if err := e.readMeanwhile(t.Context(), inventory.Order(worker == 3), start.Add(old*time.Hour), acked); err != nil {
					return err
				}
			}
		}
		return nil
	})
	<-done
	wantRecords(t, store, e.org, fresh)
	wantSummary(t, store, e.org)
}

// readMeanwhile reads all there is: at its end, if in ascending order, is what was acknowledged before it began.
func (e *expiring) readMeanwhile(ctx context.Context, order inventory.Order, stays time.Time,
	acked func() []inventory.Record) error {
	want := acked()
	all, err := read(ctx, e.store, e.org, inventory.Query{Order: order})
	if fault.Is(err, fault.StoreUnavailable) {
		return nil
	}
	if err != nil {
		return err
	}
	got := bare(all)
	if order == inventory.Descending {
		slices.Reverse(got)
	}
	old := slices.IndexFunc(got, func(r inventory.Record) bool { return !r.Timestamp.Before(stays) })
	if old < 0 {
		old = len(got)
	}
	if len(got)-old < len(want) {
		return fmt.Errorf("%d records that stay were read, after %d of them", len(got)-old, len(want))
	}
	if err := same(want, got[old:][:len(want)]); err != nil {
		return err
	}
	rest := e.records // of what goes, any may be missing, and what is there comes in order
	for _, r := range got[:old] {
		i := slices.IndexFunc(rest, func(other inventory.Record) bool { return spell(r) == spell(other) })
		if i < 0 {
			return errors.New("of what expires, something comes twice or in disorder")
		}
		rest = rest[i+1:]
	}
	return nil
}
