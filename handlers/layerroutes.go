package handlers

import (
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/openapi"
	"github.com/holdfast/holdfast/layers"
	"github.com/holdfast/holdfast/middleware"
)

// routeLayers routes what is about layers, where there are repositories.
func (d Deps) routeLayers(at section, guard *middleware.Guard) {
	if d.Layers == nil {
		return
	}
	h := layerHandlers{d.Layers, lists{d.Limits.Memory}}
	all := at.under("", guard.States(nil)).tagged(tagLayers)
	none, order := middleware.Admit(0), middleware.Admit(maxOrderBytes)
	changes := func(id, summary string) operation {
		return op(id, summary).needs(auth.WriteWorkspace).fails(fault.LayerInvalid, fault.StoreFull)
	}
	all.route("GET", "/layers", reads("listLayers", "The organization's layers, by name").with(pageOf()...).
		with(textOf("repository", "Those of this repository alone.")).gives(api.Layers{}).fails(fault.CursorInvalid),
		h.list, none)
	all.route("POST", "/layers", changes("createLayer", "Make a layer, and its workspace where there is none").
		takes(api.LayerChange{}).gives(api.Layer{}).fails(fault.NameInvalid, fault.LayerExists,
		fault.LayersFull, fault.RepositoryNotFound), h.create,
		order)
	all.route("POST", "/discover", op("discoverLayers",
		"Which layers a repository has; those that are named are made, by who may make them").needs(auth.ReadWorkspace).
		fails(fault.LayerInvalid, fault.StoreFull).
		takes(api.DiscoverOrder{}).gives(api.Discovered{}).fails(fault.LayerNotFound, fault.LayersFull,
		fault.RepositoryNotFound), h.discover, order)
	all.route("GET", "/drift", reads("listDrift", "What has drifted in all layers, by its cause").gives(api.Drift{}),
		h.drift, none)
	trend := func(id, summary string) operation {
		return reads(id, summary).with(inQueryOf("days", "How many, today with them.", openapi.Of("integer").
			With("minimum", 1).With("maximum", layers.MostDays).With("default", usualDays))).gives(api.DriftTrend{}).
			fails(fault.ParameterInvalid)
	}
	all.route("GET", "/drift/trend", trend("getDriftTrend", "What checks of all layers have found, by the day"), h.trend,
		none)
	one := all.under("/layers/:name").tagged(tagLayers, fault.LayerNotFound)
	one.route("GET", "", reads("getLayer", "A layer, with its conditions and the last commits").gives(api.Layer{}),
		h.named(h.of(h.get, h.show)), none)
	one.route("PATCH", "", changes("changeLayer", "Change the settings that the body names").takes(api.LayerChange{}).
		gives(api.Layer{}), h.named(h.change), order)
	one.route("DELETE", "", changes("deleteLayer",
		"Take a layer away, but not its workspace and state").gives(api.Done{}),
		h.named(h.remove), none)
	one.route("POST", "/-/sync", op("syncLayer", "Ask for a plan, whatever the layer's state is").needs(auth.PlanRun).
		gives(api.Layer{}), h.named(h.of(h.sync, h.show)), none)
	one.route("POST", "/-/check", op("checkLayer", "Ask for a check for drift").needs(auth.PlanRun).gives(api.Layer{}),
		h.named(h.of(h.check, h.show)), none)
	one.route("GET", "/-/drift", reads("getLayerDrift", "What the last check has found changed outside").
		gives(api.LayerDrift{}), h.named(h.of(h.get, h.showDrift)), none)
	one.route("GET", "/-/drift/trend", trend("getLayerDriftTrend", "What checks of the layer have found, by the day"),
		h.named(h.layerTrend), none)
	one.route("POST", "/-/expectations", changes("expectDrift", "Say that drift is as it should be, for a time").
		takes(api.DriftExpected{}).gives(api.LayerDrift{}).fails(fault.LayersFull), h.named(h.expect), order)
	one.route("DELETE", "/-/expectations/:id", changes("unexpectDrift", "Take that back").gives(api.LayerDrift{}),
		h.named(h.of(h.unexpect, h.showDrift)), none)
}
