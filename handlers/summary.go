package handlers

import (
	"context"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/middleware"
)

// besideGroups is what an organization has, in numbers.
type besideGroups struct {
	OrgID uuid.UUID `json:"org_id"`
	Count int64     `json:"count"` // of all records
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
	caller := middleware.Principal(c)
	err := d.lists.send(c, 0, func(ctx context.Context) (listing, error) {
		groups, err := d.service.Summary(ctx, caller)
		var count, takes int64
		for _, g := range groups {
			count += g.Count
			takes += groupBytes + int64(len(g.Provider)+len(g.Category)+len(g.ResourceType))
		}
		found := listingOf("groups", groups, groupOf, besideGroups{OrgID: caller.Org, Count: count})
		found.takes = takes // nobody knows how many there are before
		return found, err
	})
	if err != nil {
		middleware.Fail(c, err)
	}
}

// groupBytes is what a group takes beside its texts.
const groupBytes = 128

func groupOf(g inventory.Group) group {
	return group{
		Provider: g.Provider, Category: g.Category, ResourceType: g.ResourceType, Count: g.Count,
		FirstSeen: string(inventory.AppendTime(nil, g.First)), LastSeen: string(inventory.AppendTime(nil, g.Last)),
	}
}
