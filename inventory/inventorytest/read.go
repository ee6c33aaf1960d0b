package inventorytest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
)

// read collects what the query yields.
func read(ctx context.Context, store inventory.Store, org uuid.UUID,
	query inventory.Query) ([]inventory.Positioned, error) {
	var all []inventory.Positioned
	var failure error
	for record, err := range store.Records(ctx, org, query) {
		if failure != nil {
			return all, fmt.Errorf("the sequence went on after the error %w", failure)
		}
		if failure = err; err == nil {
			all = append(all, record)
		}
	}
	return all, failure
}

// mustRead is a read that has to succeed, with cursors that fit into a URL.
func mustRead(t *testing.T, store inventory.Store, org uuid.UUID, query inventory.Query) []inventory.Positioned {
	t.Helper()
	all, err := read(t.Context(), store, org, query)
	if err != nil {
		t.Fatalf("Records(%+v): %v", query, err)
	}
	for _, p := range all {
		if p.Next == "" || len(p.Next) > 128 || strings.Trim(p.Next, urlSafe) != "" {
			t.Fatalf("the cursor %q is not 1 to 128 URL-safe characters", p.Next)
		}
	}
	return all
}

// urlSafe are the characters that need no escape in a URL.
const urlSafe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-"

func bare(all []inventory.Positioned) []inventory.Record {
	var records []inventory.Record
	for _, p := range all {
		records = append(records, p.Record)
	}
	return records
}

// wantRecords reads the organization from its beginning to its end.
func wantRecords(t *testing.T, store inventory.Store, org uuid.UUID, want []inventory.Record) {
	t.Helper()
	wantSame(t, want, bare(mustRead(t, store, org, inventory.Query{})))
}

// wantQuery holds the query, in both orders, to what Matches says of all the records.
func wantQuery(t *testing.T, store inventory.Store, org uuid.UUID, query inventory.Query, all []inventory.Record) {
	t.Helper()
	want := matching(query, all)
	query.Order = inventory.Ascending
	wantSame(t, want, bare(mustRead(t, store, org, query)))
	query.Order = inventory.Descending
	slices.Reverse(want)
	wantSame(t, want, bare(mustRead(t, store, org, query)))
}

// matching returns the records that pass the query's filters.
func matching(query inventory.Query, all []inventory.Record) []inventory.Record {
	var records []inventory.Record
	for _, record := range all {
		if query.Matches(record) {
			records = append(records, record)
		}
	}
	return records
}

// wantSame compares records; the first that differs is shown.
func wantSame(t *testing.T, want, got []inventory.Record) {
	t.Helper()
	if err := same(want, got); err != nil {
		t.Fatal(err)
	}
}

func same(want, got []inventory.Record) error {
	for i := range min(len(want), len(got)) {
		if identical(want[i], got[i]) {
			continue
		}
		if want, got := spell(want[i]), spell(got[i]); want != got {
			return fmt.Errorf("record %d (-want +got):\n%.3000s", i, cmp.Diff(want, got))
		}
	}
	if len(want) != len(got) {
		return fmt.Errorf("%d records, want %d", len(got), len(want))
	}
	return nil
}

// identical is for the many records that are: to spell them out takes time.
func identical(a, b inventory.Record) bool {
	return a.Timestamp == b.Timestamp && a.Org == b.Org && a.Provider == b.Provider && a.Category == b.Category &&
		a.ResourceType == b.ResourceType && a.ResourceName == b.ResourceName && bytes.Equal(a.Attributes, b.Attributes)
}

// spell writes a record out, every byte of it, and whether its time is in UTC.
func spell(r inventory.Record) string {
	return fmt.Sprintf("%s %s %q %q %q %q\n%q", r.Timestamp.Format(time.RFC3339Nano), r.Org, r.Provider, r.Category,
		r.ResourceType, r.ResourceName, r.Attributes)
}

// wantSummary compares the summary with the records themselves.
func wantSummary(t *testing.T, store inventory.Store, org uuid.UUID) {
	t.Helper()
	got, err := store.Summary(t.Context(), org)
	if err != nil {
		t.Fatalf("Summary: %v", err)
	}
	want := summarize(bare(mustRead(t, store, org, inventory.Query{})))
	if len(want)+len(got) > 0 {
		suite.Equal(t, "Summary", want, got)
	}
	for _, group := range got {
		wantStamp(t, group.First)
		wantStamp(t, group.Last)
	}
}
