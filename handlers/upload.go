package handlers

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/quota"
)

// uploads takes in what providers report.
type uploads struct {
	service  *inventory.Service
	quota    *quota.Keeper
	recorded prometheus.Counter // instances
}

// upload keeps what is reported. Its address takes any query, as it always has.
func (u uploads) upload(ctx context.Context, r *request) (answer, error) {
	key, err := idempotencyKey(r.header)
	if err != nil {
		return nil, err
	}
	accepted, err := u.service.Upload(ctx, r.caller, middleware.JSONBody(r.c), key)
	if err != nil {
		return nil, err
	}
	r.annotate(slog.Int("instances", accepted.Count), slog.Bool("replayed", accepted.Replayed))
	if !accepted.Replayed {
		u.recorded.Add(float64(accepted.Count))
	}
	return told{header: func(header http.Header) {
		if accepted.Replayed {
			header.Set("Idempotent-Replayed", "true")
		}
		warnQuota(header, u.quota, r.caller.Org)
	}, body: api.Receipt{
		Status:         success,
		Message:        stored(accepted.Count),
		OrgID:          r.caller.Org,
		InstancesCount: accepted.Count,
		RequestID:      accepted.Request,
		Ignored:        accepted.Ignored,
		Masked:         accepted.Masked,
	}}, nil
}

func stored(count int) string {
	if count == 1 {
		return "stored 1 instance"
	}
	return fmt.Sprintf("stored %d instances", count)
}

// idempotencyKey returns the request's key, empty without one. A header that is there but
// empty is refused: its sender believes that the upload can be sent again safely.
func idempotencyKey(header http.Header) (string, error) {
	values := header.Values("Idempotency-Key")
	if len(values) == 0 {
		return "", nil
	}
	if len(values) > 1 || values[0] == "" {
		return "", fault.New(fault.IdempotencyInvalid, "the request has more than one Idempotency-Key, or an empty one")
	}
	return values[0], nil
}
