package inventory_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
	"github.com/holdfast/holdfast/quota"
)

// TestQuota records uploads until there is no room for one more: a replay is answered all the
// same, and another organization isn't concerned.
func TestQuota(t *testing.T) {
	store, free := inventorytest.New(), int64(1<<40)
	now := time.Now()
	keeper := quota.New(quota.Options{
		Sources: []quota.Source{{Kind: quota.Uploads, Store: store}},
		Limit:   func(uuid.UUID) int64 { return 10_000 },
		Free:    func() (int64, error) { return free, nil },
		Reserve: 1 << 20,
		Now:     func() time.Time { now = now.Add(time.Second); return now },
		Log:     slog.New(slog.DiscardHandler),
	})
	service := inventory.NewService(store).WithQuota(keeper)
	upload := func(org uuid.UUID, key int) (inventory.Accepted, error) {
		body := fmt.Sprintf(`{"provider":"a","category":"b","resource_type":"c","resource_name":"d%d","attributes":{"x":"%s"}}`, key, strings.Repeat("y", 3000))
		p := auth.Principal{Org: org, Grant: auth.Grant{Role: auth.Owner}}
		return service.Upload(t.Context(), p, []byte(body), fmt.Sprint("key-", key))
	}
	org := uuid.New()
	for key := range 3 {
		if _, err := upload(org, key); err != nil {
			t.Fatal(err)
		}
	}
	if s, near := keeper.Near(org); !near || s.Limit != 10_000 {
		t.Errorf("with 9 KB of 10: near %v, %+v", near, s)
	}
	if got, err := upload(org, 3); !fault.Is(err, fault.QuotaExceeded) {
		t.Errorf("a fourth: %+v, %v", got, err)
	}
	if got, err := upload(org, 1); err != nil || !got.Replayed {
		t.Errorf("a replay: %+v, %v", got, err)
	}
	if _, err := upload(uuid.New(), 1); err != nil {
		t.Errorf("another organization's: %v", err)
	}
	free = 1 << 10
	if _, err := upload(uuid.New(), 1); !fault.Is(err, fault.StoreFull) {
		t.Errorf("an upload in the reserve: %v", err)
	}
	if n, m := keeper.Refused(quota.Quota), keeper.Refused(quota.Reserve); n != 1 || m != 1 {
		t.Errorf("refused %d and %d", n, m)
	}
}
