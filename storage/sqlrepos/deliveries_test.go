package sqlrepos_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/repos"
)

func TestDeliveriesOnce(t *testing.T) {
	onEach(t, func(t *testing.T, s repositories) {
		org, id := uuid.New(), uuid.New()
		begun := func(at time.Time, is repos.Delivery, keys ...string) {
			t.Helper()
			known, err := s.BeginDelivery(t.Context(), org, id, keys, at, at.Add(-time.Minute), 100)
			s.must(err)
			want(t, fmt.Sprint(keys), known, is)
		}
		end := func(done bool, keys ...string) {
			t.Helper()
			s.must(s.EndDelivery(t.Context(), org, id, keys, done))
		}
		begun(begin(), repos.DeliveryNew, "id:1", "body:1")
		begun(begin(), repos.DeliveryBegun, "id:1", "body:2")
		begun(begin(), repos.DeliveryBegun, "id:2", "body:1")
		begun(begin().Add(2*time.Minute), repos.DeliveryNew, "id:1", "body:1") // whoever began has died
		end(true, "id:1", "body:1")
		begun(begin().Add(time.Hour), repos.DeliveryDone, "id:1")
		begun(begin().Add(time.Hour), repos.DeliveryDone, "id:3", "body:1")
		begun(begin(), repos.DeliveryNew, "id:4")
		end(false, "id:4")
		begun(begin(), repos.DeliveryNew, "id:4")
	})
}

func TestDeliveriesAreBounded(t *testing.T) {
	onEach(t, func(t *testing.T, s repositories) {
		ctx, org, id := t.Context(), uuid.New(), uuid.New()
		for i := range 5 {
			at := begin().Add(time.Duration(i) * time.Second)
			_, err := s.BeginDelivery(ctx, org, id, []string{fmt.Sprint(i)}, at, begin(), 5)
			s.must(err)
		}
		_, err := s.BeginDelivery(ctx, org, id, []string{"5"}, begin(), begin(), 5)
		suite.Fault(t, "one too many", err, fault.WebhooksFull)
		_, err = s.BeginDelivery(ctx, org, uuid.New(), []string{"5"}, begin(), begin(), 5)
		s.must(err)
		forgotten, err := s.ForgetDeliveries(ctx, begin().Add(3*time.Second), 10)
		s.must(err)
		want(t, "forgotten", forgotten, 4)
		_, err = s.BeginDelivery(ctx, org, id, []string{"5"}, begin(), begin(), 5)
		s.must(err)
	})
}
