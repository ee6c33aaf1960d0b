package handlers

import (
	"context"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// inventories serves what is known of resources, in states and uploaded.
type inventories struct {
	service *resources.Service
	lists   lists
}

// routeResources is the one inventory of states and uploads.
func routeResources(group gin.IRoutes, d Deps) {
	if d.Resources == nil {
		return // a server that has no index
	}
	r := inventories{service: d.Resources, lists: lists{d.Limits.Memory}}
	group.GET("/resources", r.search)
	group.GET("/resources/coverage", r.coverage)
	group.GET("/resources/:address/history", r.history)
}

// search looks for resources.
func (r inventories) search(c *gin.Context) {
	p := readParams(c, "q", "type", "provider", "state", "source", "cursor", "limit", attributePrefix)
	q := resources.Query{
		Type: p.text("type"), Provider: p.text("provider"), State: state.Name(p.text("state")),
		Source:     resources.Source(p.choice("source", "", string(resources.FromState), string(resources.FromUpload))),
		Attributes: p.attributes(c), After: p.place("cursor"), Limit: p.limit(),
	}
	var err error
	if q.Words, err = resources.ParseWords(p.text("q")); p.fault == nil {
		p.fault = err
	}
	r.lists.answer(c, p, resourcesBytes(), func(ctx context.Context) (listing, error) {
		page, err := r.service.Search(ctx, middleware.Principal(c), q)
		return listingOf(api.Resources{Resources: []api.Resource{}, Next: cursorOf(page.Next), Extent: extentOf(page.Extent)}, "resources", page.Resources, resourceOf), err
	})
}

// coverage counts resources by their status, or lists those of one.
func (r inventories) coverage(c *gin.Context) {
	p := readParams(c, "status", "type", "provider", "state", "since", "cursor", "limit")
	q := resources.CoverageQuery{
		Status: resources.Status(p.choice("status", statuses()...)), Type: p.text("type"), Provider: p.text("provider"),
		State: state.Name(p.text("state")), Since: p.time("since"), After: p.place("cursor"), Limit: p.limit(),
	}
	if q.Status == "" {
		r.count(c, p, q)
		return
	}
	r.lists.answer(c, p, resourcesBytes(), func(ctx context.Context) (listing, error) {
		page, err := r.service.Coverage(ctx, middleware.Principal(c), q)
		return listingOf(api.Covered{Resources: []api.CoveredResource{}, Next: cursorOf(page.Next), Extent: extentOf(page.Extent)}, "resources", page.Covered, coveredOf), err
	})
}

// count counts resources by their status.
func (r inventories) count(c *gin.Context, p *params, q resources.CoverageQuery) {
	r.lists.answer(c, p, extentBytes, func(ctx context.Context) (listing, error) {
		counts, extent, err := r.service.Count(ctx, middleware.Principal(c), q)
		return listing{answer: api.Counts{Counts: countsOf(counts), Extent: extentOf(extent)}}, err
	})
}

func statuses() []string {
	texts := []string{""}
	for _, status := range resources.Statuses() {
		texts = append(texts, string(status))
	}
	return texts
}

// attributes returns the filters attr.<name>. It has a look of its own at the query,
// because their names are the caller's.
func (p *params) attributes(c *gin.Context) []resources.Pair {
	values, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		return nil // readParams has said so
	}
	var pairs []resources.Pair
	for key, given := range values {
		name, ok := strings.CutPrefix(key, attributePrefix)
		if !ok {
			continue
		}
		if name == "" || len(given) > 1 || len(pairs) == maxAttributeFilters {
			p.fail("the query has an attr. without a name, one of them twice, or more than %d", maxAttributeFilters)
			return nil
		}
		if !isText(name) || !isText(given[0]) {
			p.fail("the query's %q is not text in UTF-8", key)
			return nil
		}
		pairs = append(pairs, resources.Pair{Name: name, Value: given[0]})
	}
	return pairs
}

const maxAttributeFilters = 20

// place reads a cursor that cursorOf made.
func (p *params) place(name string) resources.Place {
	text, given := p.values[name]
	if !given {
		return resources.Place{}
	}
	place, ok := readPlace(text)
	if !ok && p.fault == nil {
		p.fault = fault.New(fault.CursorInvalid, "the cursor is not one that this server gave")
	}
	return place
}
