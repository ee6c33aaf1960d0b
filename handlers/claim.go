package handlers

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/holdfast/holdfast/middleware"
)

// claim finds the lock that a request says it holds: in an UNLOCK, on a write, or in the order
// to roll back or to promote. Nothing else is sent by who holds it, and a LOCK by who wants to.
func (s states) claim(c *gin.Context) (isHeld func() bool) {
	name, err := s.name(c)
	if err != nil {
		return nil
	}
	id := claimedID(c)
	if id == "" {
		return nil
	}
	return func() bool { return s.service.Holds(c.Request.Context(), middleware.Principal(c), name, id) }
}

// claimedID is empty where there is none, or none that the handler would accept.
func claimedID(c *gin.Context) string {
	path := c.FullPath()
	toLock := strings.HasSuffix(path, "/lock")
	switch method := c.Request.Method; {
	case method == http.MethodPost && (strings.HasSuffix(path, "/rollback") || strings.HasSuffix(path, "/promote")):
		return orderedID(c)
	case method == "UNLOCK", toLock && method == http.MethodDelete:
		return unlockedID(c)
	case toLock, method != http.MethodPost && method != http.MethodPut && method != http.MethodDelete:
		return ""
	}
	query, err := readQuery(c)
	if err != nil {
		return ""
	}
	return query.lockID
}

func orderedID(c *gin.Context) string {
	body, err := middleware.PeekBody(c, maxOrderBytes)
	if err != nil {
		return ""
	}
	o, err := orderIn(body)
	if err != nil {
		return ""
	}
	return o.LockID
}

func unlockedID(c *gin.Context) string {
	body, err := middleware.PeekBody(c, maxLockInfoBytes)
	if err != nil {
		return ""
	}
	info, err := unlockInfo(c, body)
	if err != nil {
		return ""
	}
	return info.ID
}
