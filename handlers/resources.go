package handlers

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
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
	v := inventories{service: d.Resources, lists: lists{d.Limits.Memory}}
	group.GET("/resources", serve(v.search))
	group.GET("/resources/coverage", serve(v.coverage))
	group.GET("/resources/:address/history", serve(v.history))
}

// search looks for resources.
func (v inventories) search(ctx context.Context, r *request) (answer, error) {
	words, err := resources.ParseWords(r.text("q"))
	q := resources.Query{
		Words: words, Type: r.text("type"), Provider: r.text("provider"), State: state.Name(r.text("state")),
		Source: resources.Source(r.choice("source", "", string(resources.FromState), string(resources.FromUpload))),
		After:  r.place(), Limit: r.limit(),
	}
	for name, value := range r.attributes(maxAttributeFilters) {
		q.Attributes = append(q.Attributes, resources.Pair{Name: name, Value: value})
	}
	r.check(err)
	r.check(v.service.PermitSearch(ctx, r.caller))
	return v.lists.answer(ctx, r, resourcesBytes(), func() (listing, error) {
		page, err := v.service.Search(ctx, r.caller, q)
		found := api.Resources{Resources: []api.Resource{}, Next: cursorOf(page.Next), Extent: extentOf(page.Extent)}
		return listingOf(found, "resources", page.Resources, resourceOf), err
	})
}

// maxAttributeFilters is how many filters attr.<name> a search takes.
const maxAttributeFilters = 20

// coverage counts resources by their status, or lists those of one.
func (v inventories) coverage(ctx context.Context, r *request) (answer, error) {
	q := resources.CoverageQuery{
		Status: resources.Status(r.choice("status", statuses()...)), Type: r.text("type"), Provider: r.text("provider"),
		State: state.Name(r.text("state")), Since: r.time("since"), After: r.place(), Limit: r.limit(),
	}
	r.check(v.service.PermitCoverage(ctx, r.caller))
	if q.Status == "" {
		return v.count(ctx, r, q)
	}
	return v.lists.answer(ctx, r, resourcesBytes(), func() (listing, error) {
		page, err := v.service.Coverage(ctx, r.caller, q)
		found := api.Covered{Resources: []api.CoveredResource{}, Next: cursorOf(page.Next), Extent: extentOf(page.Extent)}
		return listingOf(found, "resources", page.Covered, coveredOf), err
	})
}

// count counts resources by their status.
func (v inventories) count(ctx context.Context, r *request, q resources.CoverageQuery) (answer, error) {
	return v.lists.answer(ctx, r, extentBytes, func() (listing, error) {
		counts, extent, err := v.service.Count(ctx, r.caller, q)
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

// place reads a cursor that cursorOf made.
func (r *request) place() (place resources.Place) {
	r.cursor(func(text string) (ok bool) { place, ok = readPlace(text); return ok })
	return place
}
