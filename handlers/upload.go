package handlers

import (
	"fmt"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"
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

func (u uploads) upload(c *gin.Context) {
	key, err := idempotencyKey(c)
	if err != nil {
		middleware.Fail(c, err)
		return
	}
	principal := middleware.Principal(c)
	accepted, err := u.service.Upload(c.Request.Context(), principal, middleware.JSONBody(c), key)
	if err != nil {
		middleware.Fail(c, err)
		return
	}
	middleware.Annotate(c, slog.Int("instances", accepted.Count), slog.Bool("replayed", accepted.Replayed))
	if accepted.Replayed {
		c.Header("Idempotent-Replayed", "true")
	} else {
		u.recorded.Add(float64(accepted.Count))
	}
	warnQuota(c, u.quota)
	c.JSON(http.StatusOK, api.Receipt{
		Status:         success,
		Message:        stored(accepted.Count),
		OrgID:          principal.Org,
		InstancesCount: accepted.Count,
		RequestID:      accepted.Request,
		Ignored:        accepted.Ignored,
	})
}

func stored(count int) string {
	if count == 1 {
		return "stored 1 instance"
	}
	return fmt.Sprintf("stored %d instances", count)
}

// idempotencyKey returns the request's key, empty without one. A header that is there but
// empty is refused: its sender believes that the upload can be sent again safely.
func idempotencyKey(c *gin.Context) (string, error) {
	values := c.Request.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return "", nil
	}
	if len(values) > 1 || values[0] == "" {
		return "", fault.New(fault.IdempotencyInvalid, "the request has more than one Idempotency-Key, or an empty one")
	}
	return values[0], nil
}
