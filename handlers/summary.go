package handlers

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/middleware"
)

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
		found := listingOf(api.Summary{OrgID: caller.Org, Count: count, Groups: []api.Group{}}, "groups", groups, groupOf)
		found.takes = takes // nobody knows how many there are before
		return found, err
	})
	if err != nil {
		middleware.Fail(c, err)
	}
}

// groupBytes is what a group takes beside its texts.
const groupBytes = 128

func groupOf(g inventory.Group) api.Group {
	return api.Group{
		Provider: g.Provider, Category: g.Category, ResourceType: g.ResourceType, Count: g.Count,
		FirstSeen: string(inventory.AppendTime(nil, g.First)), LastSeen: string(inventory.AppendTime(nil, g.Last)),
	}
}
