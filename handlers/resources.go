package handlers

import (
	"context"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/openapi"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// inventories serves what is known of resources, in states and uploaded.
type inventories struct {
	service *resources.Service
	lists   lists
}

// routeResources is the one inventory of states and uploads.
func routeResources(s section, d Deps) {
	if d.Resources == nil {
		return // a server that has no index
	}
	s = s.tagged(tagResources, fault.CursorInvalid)
	v := inventories{service: d.Resources, lists: lists{d.Limits.Memory}}
	filters := []openapi.Parameter{textOf("type", "Exactly this type."), textOf("provider", "Exactly this provider."),
		textOf("state", "Only in this state.")}
	s.route("GET", "/resources", op("searchResources", "The resources of all states and uploads that match").
		with(textOf("q", "Words, all of which must be in the address, IDs, name or tags.")).with(filters...).
		with(choiceOf("source", "Only in states, or only uploaded.", "", string(resources.FromState),
			string(resources.FromUpload)), attributesOf()).
		with(pageOf()...).gives(api.Resources{}).needs(auth.ReadState, auth.ReadData).fails(unreadStates()...), v.search)
	s.route("GET", "/resources/coverage",
		op("coverResources", "What is managed, unmanaged, missing or claimed twice: counts, or with `status` a list").
			with(choiceOf("status", "List the resources of this status.", statuses()...)).with(filters...).with(timeOf("since",
			"Leave out what was uploaded before.")).
			with(pageOf()...).gives(api.Counts{}).gives(api.Covered{}).needs(auth.ReadData).fails(unreadStates()...), v.coverage)
	s.route("GET", "/resources/:address/history",
		op("getResourceHistory", "The versions of a state in which a resource changed, the newest first").
			with(required(textOf("state", "The state."))).with(pageOf()...).gives(api.History{}).needs(auth.ReadState).
			fails(append(unreadStates(), fault.NameInvalid, fault.StateNotFound, fault.ResourceNotFound)...), v.history)
}

// unreadStates are why a state can't be looked into.
func unreadStates() []fault.Code {
	return []fault.Code{fault.VersionPurged, fault.StateEncrypted, fault.StateUnsupported, fault.StateCorrupt,
		fault.UploadsOff}
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
