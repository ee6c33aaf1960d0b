package inventorytest

import (
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/inventory"
)

// uploadLedger is what the store has to have, by all that the children told.
type uploadLedger struct {
	line      *timeline
	parcels   map[string]parcel            // all that were sent
	receipts  map[string]inventory.Receipt // of those that were acknowledged
	orders    [][]string                   // by organization: the batches, as they were found last
	instances int                          // acknowledged by the children
	batches   int
}

func newUploadLedger() *uploadLedger {
	return &uploadLedger{
		line: newTimeline(), parcels: map[string]parcel{}, receipts: map[string]inventory.Receipt{},
		orders: make([][]string, len(uploaders())),
	}
}

// enter takes in what a child told before it died.
func (l *uploadLedger) enter(events []uploadEvent) {
	for _, e := range events {
		id := e.Parcel.ID
		switch e.Phase {
		case killtest.Begun:
			l.parcels[id] = e.Parcel
			l.line.begin(id)
		case killtest.Acked:
			l.receipts[id] = e.Receipt
			l.line.answer(id)
			l.instances += e.Parcel.Size
			l.batches++
		}
	}
}

// verify compares every organization with the ledger.
func (l *uploadLedger) verify(t *testing.T, store inventory.Store) {
	t.Helper()
	for i, org := range uploaders() {
		records := bare(mustRead(t, store, org, inventory.Query{}))
		ids, err := wholeBatches(records)
		if err != nil {
			t.Fatalf("%v: %v", org, err)
		}
		l.verifyOrder(t, i, ids)
		l.verifyRecords(t, records, ids)
		if err := neverBackwards(records); err != nil {
			t.Errorf("%v: %v", org, err)
		}
		wantSummary(t, store, org)
	}
}

// verifyOrder holds the batches to what was found before, and to the calls since.
func (l *uploadLedger) verifyOrder(t *testing.T, org int, ids []string) {
	t.Helper()
	before := l.orders[org]
	if len(ids) < len(before) || !slices.Equal(before, ids[:len(before)]) {
		t.Fatalf("%v: what was there has changed: %d batches before, %d now", uploaders()[org], len(before), len(ids))
	}
	l.orders[org] = ids
	there := map[string]bool{"": true}
	for _, id := range ids {
		if after := l.parcels[id].After; !there[after] {
			t.Fatalf("%v: batch %s is there without the one before it", uploaders()[org], id)
		}
		there[id] = true
	}
	// Of all the calls, those of this organization.
	calls := newTimeline()
	for id, call := range l.line.calls {
		if l.parcels[id].Org == org {
			calls.calls[id] = call
		}
	}
	if err := calls.check(ids, l.line.clock.Add(1)); err != nil {
		t.Fatalf("%v: %v", uploaders()[org], err)
	}
}

// verifyRecords compares every byte with what was sent, and the timestamps with what was
// acknowledged.
func (l *uploadLedger) verifyRecords(t *testing.T, records []inventory.Record, ids []string) {
	t.Helper()
	at := 0
	for _, id := range ids {
		p := l.parcels[id]
		receipt, ok := l.receipts[id]
		if !ok {
			receipt.At = records[at].Timestamp
		}
		wantSame(t, recordsOf(p.batch(), receipt), records[at:at+p.Size])
		at += p.Size
	}
}

// retry sends every batch that had no answer again, as its client would: it is recorded
// unless it was already.
func (l *uploadLedger) retry(t *testing.T, store inventory.Store) {
	t.Helper()
	for id, p := range l.parcels {
		if _, ok := l.receipts[id]; ok {
			continue
		}
		there := slices.Contains(l.orders[p.Org], id)
		p.After = "" // from now on each is for itself
		l.parcels[id] = p
		receipt, err := store.Append(t.Context(), p.batch())
		if err != nil {
			t.Fatalf("%v: batch %s, sent again: %v", uploaders()[p.Org], id, err)
		}
		if receipt.Replayed != there {
			t.Errorf("%v: batch %s was there: %v, sent again it was a replay: %v", uploaders()[p.Org], id, there,
				receipt.Replayed)
		}
		l.receipts[id] = receipt
		l.line.answer(id)
	}
	l.verify(t, store)
	wantOrganizations(t, store, l.present())
}

// present returns the organizations that have records.
func (l *uploadLedger) present() []uuid.UUID {
	var orgs []uuid.UUID
	for i, org := range uploaders() {
		if len(l.orders[i]) > 0 {
			orgs = append(orgs, org)
		}
	}
	return orgs
}
