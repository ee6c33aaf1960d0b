package handlers

import (
	"context"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/inventory"
)

// summary counts what was uploaded.
func (d data) summary(ctx context.Context, r *request) (answer, error) {
	return d.lists.answer(ctx, r, 0, func() (listing, error) {
		groups, err := d.service.Summary(ctx, r.caller)
		var count int64
		for _, g := range groups {
			count += g.Count
		}
		// Nobody knows how many groups there are before they are read.
		return listingOf(api.Summary{OrgID: r.caller.Org, Count: count, Groups: []api.Group{}}, "groups", groups, groupOf),
			err
	})
}

func groupOf(g inventory.Group) api.Group {
	return api.Group{
		Provider: g.Provider, Category: g.Category, ResourceType: g.ResourceType, Count: g.Count,
		FirstSeen: string(inventory.AppendTime(nil, g.First)), LastSeen: string(inventory.AppendTime(nil, g.Last)),
	}
}
