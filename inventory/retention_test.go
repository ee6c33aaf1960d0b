package inventory_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
)

// expires is a store of which one organization's records can't all be removed, and that counts the calls.
type expires struct {
	inventory.Store
	broken uuid.UUID
	calls  map[uuid.UUID]int
}

func (s *expires) Expire(ctx context.Context, org uuid.UUID, before time.Time, limit int) (int, error) {
	s.calls[org]++
	removed, err := s.Store.Expire(ctx, org, before, limit)
	if org == s.broken {
		err = errors.Join(err, errors.New("a part of it is away"))
	}
	return removed, err
}

// onRecord is an audit log.
type onRecord []audit.Event

func (l *onRecord) Record(_ context.Context, e audit.Event) error {
	*l = append(*l, e)
	return nil
}

// A sweep removes whole days of what organizations don't keep, once a day, with an entry for each that lost something.
// One that fails keeps no other from it, is tried again by the next sweep, and what it lost is on record all the same.
func TestUploadRetention(t *testing.T) {
	store := &expires{Store: inventorytest.New(), calls: map[uuid.UUID]int{}}
	defer func() { _ = store.Close() }()
	one, forever, broken, empty := uuid.UUID{1}, uuid.UUID{2}, uuid.UUID{3}, uuid.UUID{4}
	store.broken = broken
	now := time.Date(2026, 3, 14, 5, 6, 7, 8, time.FixedZone("east", 3600))
	upload := func(org uuid.UUID, at time.Time, n int) {
		t.Helper()
		r := inventory.Resource{Provider: "aws", Category: "compute", ResourceType: "vm", ResourceName: "web",
			Attributes: []byte(`{}`)}
		_, err := store.Append(t.Context(), inventory.Batch{ID: uuid.NewString(), Org: org, At: at,
			Resources: slices.Repeat([]inventory.Resource{r}, n)})
		if err != nil {
			t.Fatal(err)
		}
	}
	midnight := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	for _, org := range []uuid.UUID{one, forever, broken} {
		upload(org, midnight.Add(-time.Hour), 700)
		upload(org, midnight.Add(-time.Microsecond), 1500)
		upload(org, midnight, 3)
		upload(org, midnight.Add(time.Hour), 4)
	}
	var log onRecord
	var lines bytes.Buffer
	r := inventory.Retention{Store: store, Audit: &log, Log: slog.New(slog.NewTextHandler(&lines, nil)),
		Orgs: func() []uuid.UUID { return []uuid.UUID{broken, one, forever, empty} },
		Keep: func(org uuid.UUID) time.Duration {
			if org == forever {
				return 0
			}
			return 10 * 24 * time.Hour
		},
		Now: func() time.Time { return now }}
	wantLeft := func(org uuid.UUID, want int) {
		t.Helper()
		left := 0
		for _, err := range store.Records(t.Context(), org, inventory.Query{}) {
			if left++; err != nil {
				t.Fatal(err)
			}
		}
		if left != want {
			t.Errorf("%d records of %v are left, want %d", left, org, want)
		}
	}
	if err := r.Sweep(t.Context()); err != nil || len(store.calls) > 0 {
		t.Errorf("the first sweep, which can't compare clocks: %v, %v", store.calls, err)
	}
	now = now.AddDate(1, 0, 0) // for one sweep, the clock is ahead
	_ = r.Sweep(t.Context())
	now = now.AddDate(-1, 0, 0)
	for range 2 {
		if err := r.Sweep(t.Context()); err == nil || !strings.Contains(err.Error(), broken.String()) {
			t.Errorf("what fails is told as %v", err)
		}
		wantLeft(one, 7)
		wantLeft(broken, 7)
		wantLeft(forever, 2207)
	}
	if store.calls[forever] != 0 || store.calls[empty] != 1 || store.calls[one] != 4 || store.calls[broken] != 6 {
		t.Errorf("the store was called %v", store.calls)
	}
	now = now.Add(24 * time.Hour)
	_ = r.Sweep(t.Context())
	wantLeft(one, 7)
	_ = r.Sweep(t.Context())
	wantLeft(one, 0)
	event := func(org uuid.UUID, at time.Time, note string) audit.Event {
		return audit.Event{At: at.UTC().Truncate(time.Microsecond), Org: org, Actor: audit.Server(),
			Action: audit.UploadExpire, Note: note}
	}
	first, second := "2200 records from before 2026-03-04T00:00:00Z", "7 records from before 2026-03-05T00:00:00Z"
	ahead := now.Add(-24*time.Hour).AddDate(1, 0, 0)
	want := onRecord{event(broken, ahead, first), event(one, ahead, first),
		event(broken, now, second), event(one, now, second)}
	if diff := cmp.Diff(want, log); diff != "" {
		t.Errorf("on record (-want +got):\n%s", diff)
	}
	if n := strings.Count(lines.String(), "\n"); n != len(want) {
		t.Errorf("%d lines are logged, want %d:\n%s", n, len(want), lines.String())
	}
}
