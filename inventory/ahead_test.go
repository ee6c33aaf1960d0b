package inventory_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
)

// TestTimestampsAheadAreTold has a record of the future in the store: the first upload that
// comes behind it is logged, how far it is ahead is known, and both end when the clock is
// there.
func TestTimestampsAheadAreTold(t *testing.T) {
	store := inventorytest.New()
	t.Cleanup(func() { _ = store.Close() })
	var log bytes.Buffer
	now := time.Now()
	service := inventory.NewService(store).WithClock(func() time.Time { return now },
		slog.New(slog.NewTextHandler(&log, nil)))
	caller, body := principal("r"), []byte(list(`{"resource_name":"a"}`))
	send := func(key string) {
		t.Helper()
		if _, err := service.Upload(t.Context(), caller, body, key); err != nil {
			t.Fatal(err)
		}
	}
	send("first")
	if service.Ahead() != 0 || log.Len() > 0 {
		t.Errorf("ahead by %v, and the log has %q", service.Ahead(), log.String())
	}
	future := now.Add(24 * time.Hour).Truncate(time.Microsecond).UTC()
	_, err := store.Append(t.Context(),
		inventory.Batch{ID: "future", Org: caller.Org, At: future,
			Resources: []inventory.Resource{{Provider: "a", Category: "b", ResourceType: "c", ResourceName: "d",
				Attributes: []byte("{}")}}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		send("")
	}
	if n := strings.Count(log.String(), "lies in the future"); n != 1 ||
		!strings.Contains(log.String(), "org="+caller.Org.String()) {
		t.Errorf("%d lines say so: %s", n, log.String())
	}
	if lead := service.Ahead(); lead < 23*time.Hour || lead > 24*time.Hour+time.Second {
		t.Errorf("ahead by %v", lead)
	}
	send("first") // what it got was right when it got it
	other := caller
	other.Org = uuid.New()
	if _, err := service.Upload(t.Context(), other, body, ""); err != nil || service.Ahead() == 0 {
		t.Errorf("ahead by %v after another organization's upload (%v)", service.Ahead(), err)
	}
	now = now.Add(25 * time.Hour)
	if service.Ahead() != 0 {
		t.Errorf("ahead by %v of a clock that is there", service.Ahead())
	}
	send("")
	if !strings.Contains(log.String(), "follow the clock again") {
		t.Errorf("the log has %s", log.String())
	}
}

func TestStamp(t *testing.T) {
	now, end := time.Date(2026, 1, 2, 3, 4, 5, 6789, time.FixedZone("", 3600)),
		time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)
	clock := time.Date(2026, 1, 2, 2, 4, 5, 6000, time.UTC)
	for newest, want := range map[time.Time]time.Time{
		{}:                           clock,
		clock.Add(-time.Microsecond): clock,
		clock:                        clock.Add(time.Microsecond),
		clock.Add(time.Hour):         clock.Add(time.Hour + time.Microsecond),
		end.Add(-time.Microsecond):   end,
		end:                          end,
	} {
		if got := inventory.Stamp(now, newest); got != want {
			t.Errorf("behind %v: %v, want %v", newest, got, want)
		}
	}
}
