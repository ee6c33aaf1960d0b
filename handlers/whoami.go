package handlers

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/quota"
)

// identity is what a caller's credentials say of them. It is nothing that whoever has them
// could not find out by trying.
type identity struct {
	OrgID   uuid.UUID    `json:"org_id"`
	OrgName string       `json:"org_name"`
	KeyID   string       `json:"key_id"`
	KeyName string       `json:"key_name"`
	Subject string       `json:"subject"`
	Role    auth.Role    `json:"role"`
	Rights  []auth.Right `json:"rights"`
	States  []string     `json:"states"`  // patterns; null for every state
	Expires *time.Time   `json:"expires"` // null for never
	Limits  limits       `json:"limits"`
	Quota   *standing    `json:"quota,omitempty"`
	Address string       `json:"address"` // where the request came from, as the server sees it
}

// limits are in requests a minute; null for none.
type limits struct {
	Requests *int `json:"rate_limit"`
	States   *int `json:"state_rate_limit"`
}

// whoami answers who is calling. Everybody may ask: the answer is about the caller only.
type whoami struct {
	// limits are those of organizations that have none of their own.
	limits auth.Limits
	quota  *quota.Keeper
}

func (w whoami) show(c *gin.Context) {
	p := middleware.Principal(c)
	answer := identity{
		OrgID: p.Org, OrgName: p.OrgName, KeyID: p.KeyID, KeyName: p.KeyName, Subject: p.Subject,
		Role: p.Role, Rights: p.Role.Rights(), States: p.States.List(),
		Limits:  limits{limitOf(p.Limits.Requests, w.limits.Requests), limitOf(p.Limits.States, w.limits.States)},
		Quota:   standingOf(c.Request.Context(), w.quota, p.Org),
		Address: p.Address,
	}
	if !p.Expires.IsZero() {
		expires := p.Expires.UTC()
		answer.Expires = &expires
	}
	c.JSON(http.StatusOK, answer)
}

// limitOf is an organization's own limit, or else the usual one; nil for none.
func limitOf(own, usual int) *int {
	if own == 0 {
		own = usual
	}
	if own <= 0 {
		return nil
	}
	return &own
}
