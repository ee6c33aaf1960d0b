package client

import (
	"context"
	"time"

	"github.com/holdfast/holdfast/api"
)

// ResourcesQuery selects resources; what is empty selects nothing.
type ResourcesQuery struct {
	Words                 string // all of which it must have
	Type, Provider, State string
	Source                string            // state or upload
	Attributes            map[string]string // at the top level, with their texts
	Limit                 int               // at most so many; 0 for all
}

// Found is a list of resources, and after All what it is of.
type Found[T any] struct {
	*List[T]
	Extent api.Extent
}

// Resources finds resources in all states and uploads.
func (c *Client) Resources(q ResourcesQuery) *Found[api.Resource] {
	r := get("resources", map[string]string{
		"q": q.Words, "type": q.Type, "provider": q.Provider, "state": q.State, "source": q.Source,
	})
	r.attributes = q.Attributes
	found := &Found[api.Resource]{}
	found.List = newList(c, r, "cursor", q.Limit, func(p api.Resources) ([]api.Resource, string) {
		found.Extent = p.Extent
		return p.Resources, textOr(p.Next)
	})
	return found
}

// CoverageQuery selects what coverage is of; what is empty selects nothing.
type CoverageQuery struct {
	Type, Provider, State string
	Since                 time.Time // leaves out what was uploaded before
	Limit                 int       // of Covered: at most so many; 0 for all
}

func (q CoverageQuery) request(status string) request {
	return get("resources/coverage", map[string]string{
		"status": status, "type": q.Type, "provider": q.Provider, "state": q.State, "since": moment(q.Since),
	})
}

// Coverage counts resources by their status.
func (c *Client) Coverage(ctx context.Context, q CoverageQuery) (api.Counts, error) {
	return ask[api.Counts](ctx, c, q.request(""))
}

// Covered lists the resources of one status: managed, unmanaged, missing, claimed_twice or
// unmatched.
func (c *Client) Covered(status string, q CoverageQuery) *Found[api.CoveredResource] {
	found := &Found[api.CoveredResource]{}
	found.List = newList(c, q.request(status), "cursor", q.Limit, func(p api.Covered) ([]api.CoveredResource, string) {
		found.Extent = p.Extent
		return p.Resources, textOr(p.Next)
	})
	return found
}

// History is a list of versions, and after All those that could not be looked into.
type History struct {
	*List[api.Step]
	Unread []api.UnreadVersion
}

// History lists the versions of a state in which a resource changed, the newest first; at most
// limit, or all for 0.
func (c *Client) History(state, address string, limit int) *History {
	h := &History{}
	r := get("resources/"+pathSegment(address)+"/history", map[string]string{"state": state})
	h.List = newList(c, r, "cursor", limit, func(p api.History) ([]api.Step, string) {
		h.Unread = append(h.Unread, p.Unread...)
		return p.History, textOr(p.Next)
	})
	return h
}
