package inventory_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/inventorytest"
)

// slowSummary is a store whose summaries end when a test says so.
type slowSummary struct {
	inventory.Store
	goOn chan struct{}
	now  atomic.Int64
}

func (s *slowSummary) Summary(ctx context.Context, org uuid.UUID) ([]inventory.Group, error) {
	s.now.Add(1)
	defer s.now.Add(-1)
	<-s.goOn
	return s.Store.Summary(ctx, org)
}

// TestSummariesTakeTurns: nobody knows how many groups there are before they are in memory, so one
// organization that asks again and again must not have them there many times, nor keep others waiting.
func TestSummariesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowSummary{Store: inventorytest.New(), goOn: make(chan struct{})}
		service := inventory.NewService(store)
		wantAtOnce := func(n int64, orgs ...uuid.UUID) {
			t.Helper()
			for _, org := range orgs {
				go func() {
					p := auth.Principal{Org: org, Grant: auth.Grant{Role: auth.Owner}}
					if _, err := service.Summary(t.Context(), p); err != nil {
						t.Error(err)
					}
				}()
			}
			synctest.Wait()
			if now := store.now.Load(); now != n {
				t.Errorf("%d summaries are made at once, want %d", now, n)
			}
		}
		one, two, three := uuid.UUID{1}, uuid.UUID{2}, uuid.UUID{3}
		wantAtOnce(2, one, one, one, one, one)
		wantAtOnce(3, two)
		wantAtOnce(4, three, three)
		close(store.goOn)
		wantAtOnce(0)
	})
}
