package handlers

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/middleware"
)

// summary is what an organization has, in numbers.
type summary struct {
	OrgID  uuid.UUID `json:"org_id"`
	Count  int64     `json:"count"` // of all records
	Groups []group   `json:"groups"`
}

type group struct {
	Provider     string `json:"provider"`
	Category     string `json:"category"`
	ResourceType string `json:"resource_type"`
	Count        int64  `json:"count"`
	FirstSeen    string `json:"first_seen"`
	LastSeen     string `json:"last_seen"`
}

func (d data) summary(c *gin.Context) {
	if _, err := parseReading(c.Request.URL.RawQuery, nil); err != nil {
		middleware.Fail(c, err)
		return
	}
	principal := middleware.Principal(c)
	groups, err := d.service.Summary(c.Request.Context(), principal)
	if err != nil {
		middleware.Fail(c, err)
		return
	}
	answer := summary{OrgID: principal.Org, Groups: make([]group, 0, len(groups))}
	for _, g := range groups {
		answer.Count += g.Count
		answer.Groups = append(answer.Groups, groupOf(g))
	}
	c.JSON(http.StatusOK, answer)
}

func groupOf(g inventory.Group) group {
	return group{
		Provider: g.Provider, Category: g.Category, ResourceType: g.ResourceType, Count: g.Count,
		FirstSeen: string(inventory.AppendTime(nil, g.First)), LastSeen: string(inventory.AppendTime(nil, g.Last)),
	}
}
