package handlers

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/middleware"
)

// health answers probes. They need no credentials and tell nothing about tenants.
type health struct {
	states  func(context.Context) error
	uploads func(context.Context) error
	version string
}

func (h health) health(c *gin.Context) {
	c.JSON(http.StatusOK, api.Health{Status: "healthy", Version: h.version, Service: "holdfast"})
}

// live says that the process answers at all.
func (h health) live(c *gin.Context) { c.JSON(http.StatusOK, api.Readiness{Status: "alive"}) }

// readiness says whether a write would be accepted now, else why not. A degraded store
// accepts them: a balancer that took the node away would only make that worse.
func (h health) readiness(c *gin.Context) {
	err := h.ready(c.Request.Context())
	switch {
	case err == nil:
		c.JSON(http.StatusOK, api.Readiness{Status: "ready"})
	case fault.Is(err, fault.StoreDegraded):
		c.JSON(http.StatusOK, api.Readiness{Status: "degraded", Reason: fault.From(err).Message})
	default:
		f := fault.From(err)
		// Whatever the store's fault is, to a balancer it means "not this one".
		c.Error(err)
		c.JSON(http.StatusServiceUnavailable, api.Failure{
			Status: "error", Code: api.ErrorCode(f.Code), Message: f.Message, RequestID: middleware.RequestIDOf(c.Request.Context()),
		})
	}
}

func (h health) ready(ctx context.Context) error {
	if err := h.states(ctx); err != nil {
		return err
	}
	return h.uploads(ctx)
}
