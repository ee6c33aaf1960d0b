package handlers

import (
	"context"
	"slices"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/layers"
	"github.com/holdfast/holdfast/state"
)

// layerHandlers serves layers.
type layerHandlers struct {
	service *layers.Service
	lists   lists
}

// layerBytes is what a layer takes in a list, about.
const layerBytes = 32 << 10

// list lists layers by name.
func (h layerHandlers) list(ctx context.Context, r *request) (answer, error) {
	q := layers.Query{Repository: r.filled("repository")}
	r.cursor(func(text string) bool {
		_, err := state.ParseName(text)
		q.After = text
		return err == nil
	})
	q.Limit = r.limit()
	return h.lists.answer(ctx, r, int64(q.Limit)*layerBytes, func() (listing, error) {
		page, next, err := h.service.List(ctx, r.caller, q)
		now := h.service.Now()
		return listOf(api.Layers{Layers: []api.Layer{}, Next: orNull(next)}, "layers", page, layerBytes,
			func(l layers.Layer) api.Layer { return layerOf(l, now) }), err
	})
}

// create makes a layer.
func (h layerHandlers) create(ctx context.Context, r *request) (answer, error) {
	order := objectOr[api.LayerChange](r, fault.LayerInvalid)
	name, err := state.ParseName(order.Name)
	r.check(err)
	settings := layers.Defaults()
	applyLayerChange(order, &settings)
	if err := r.err(); err != nil {
		return nil, err
	}
	made, err := h.service.Add(ctx, r.caller, layers.New{Name: string(name),
		Tooling: layers.Tooling{Tool: order.Tool, Version: order.Version, Reads: order.Reads}, Settings: settings})
	return tell(wholeLayer(made, h.service.Now())), err
}

// discover shows the layers of a repository, and accepts those that the order names.
func (h layerHandlers) discover(ctx context.Context, r *request) (answer, error) {
	order := objectOr[api.DiscoverOrder](r, fault.LayerInvalid)
	if err := r.err(); err != nil {
		return nil, err
	}
	found, err := h.service.Discover(ctx, r.caller, order.Repository, order.Branch, order.Pattern)
	if err != nil {
		return nil, err
	}
	if len(order.Accept) > 0 {
		if err := h.service.Accept(ctx, r.caller, found, order.Accept); err != nil {
			return nil, err
		}
	}
	said := api.Discovered{Commit: found.Commit.ID, Layers: []api.DiscoveredLayer{}}
	for _, o := range found.Layers {
		one := api.DiscoveredLayer{Name: o.Name, Tool: o.Tool, Version: o.Version, Reads: o.Reads,
			Settings: layerSettingsOf(o.Settings), Line: o.Line, Status: o.Status}
		if slices.Contains(order.Accept, o.Name) {
			one.Status = "accepted"
		}
		said.Layers = append(said.Layers, one)
	}
	return tell(said), nil
}

// drift shows what has drifted in all layers.
func (h layerHandlers) drift(ctx context.Context, r *request) (answer, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	groups, err := h.service.Drift(ctx, r.caller)
	return tell(causesOf(groups)), err
}

// usualDays is how many days a trend has.
const usualDays = 30

// trend counts what checks of all layers have found.
func (h layerHandlers) trend(ctx context.Context, r *request) (answer, error) {
	days := r.within("days", usualDays, layers.MostDays)
	if err := r.err(); err != nil {
		return nil, err
	}
	found, err := h.service.Trend(ctx, r.caller, days)
	return tell(trendOf(found)), err
}

// layerTrend counts what checks of a layer have found.
func (h layerHandlers) layerTrend(ctx context.Context, r *request, name string) (answer, error) {
	days := r.within("days", usualDays, layers.MostDays)
	if err := r.err(); err != nil {
		return nil, err
	}
	found, err := h.service.LayerTrend(ctx, r.caller, name, days)
	return tell(trendOf(found)), err
}

// layerHandler is a handler of what is about one layer.
type layerHandler func(ctx context.Context, r *request, name string) (answer, error)

func (h layerHandlers) named(do layerHandler) handler {
	return func(ctx context.Context, r *request) (answer, error) {
		name, err := nativeName(r)
		if err != nil {
			return nil, err
		}
		return do(ctx, r, string(name))
	}
}

// of is a handler that takes nothing but the name.
func (h layerHandlers) of(do func(ctx context.Context, r *request, name string) (layers.Layer, error),
	show func(ctx context.Context, r *request, l layers.Layer) any) layerHandler {
	return func(ctx context.Context, r *request, name string) (answer, error) {
		if err := r.err(); err != nil {
			return nil, err
		}
		l, err := do(ctx, r, name)
		if err != nil {
			return nil, err
		}
		return tell(show(ctx, r, l)), nil
	}
}

func (h layerHandlers) show(_ context.Context, _ *request, l layers.Layer) any {
	return wholeLayer(l, h.service.Now())
}

// showDrift shows what has drifted, and who else claims it of those that the caller may see.
func (h layerHandlers) showDrift(ctx context.Context, r *request, l layers.Layer) any {
	return driftOf(l, h.service.Claims(ctx, r.caller, l))
}

func (h layerHandlers) get(ctx context.Context, r *request, name string) (layers.Layer, error) {
	return h.service.Get(ctx, r.caller, name)
}

func (h layerHandlers) sync(ctx context.Context, r *request, name string) (layers.Layer, error) {
	return h.service.Sync(ctx, r.caller, name)
}

func (h layerHandlers) check(ctx context.Context, r *request, name string) (layers.Layer, error) {
	return h.service.Check(ctx, r.caller, name)
}

func (h layerHandlers) unexpect(ctx context.Context, r *request, name string) (layers.Layer, error) {
	id := r.segment("id", fault.LayerInvalid, "that is not the ID of an expectation")
	if err := r.err(); err != nil {
		return layers.Layer{}, err
	}
	return h.service.Unexpect(ctx, r.caller, name, id)
}

// change changes settings.
func (h layerHandlers) change(ctx context.Context, r *request, name string) (answer, error) {
	order := objectOr[api.LayerChange](r, fault.LayerInvalid)
	if order.Name != "" && order.Name != name {
		r.check(fault.New(fault.LayerInvalid, "a layer can't get another name"))
	}
	if order.Tool != "" || order.Version != "" || order.Reads != nil {
		r.check(fault.New(fault.LayerInvalid,
			"tool, version and reads are settings of the layer's workspace: change them there"))
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	changed, err := h.service.Configure(ctx, r.caller, name, func(s *layers.Settings) { applyLayerChange(order, s) })
	return tell(wholeLayer(changed, h.service.Now())), err
}

// remove takes a layer away.
func (h layerHandlers) remove(ctx context.Context, r *request, name string) (answer, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	return done(), h.service.Remove(ctx, r.caller, name)
}

// expect says that drift is as it should be.
func (h layerHandlers) expect(ctx context.Context, r *request, name string) (answer, error) {
	order := objectOr[api.DriftExpected](r, fault.LayerInvalid)
	if err := r.err(); err != nil {
		return nil, err
	}
	l, err := h.service.Expect(ctx, r.caller, name, layers.Expectation{
		Rule: layers.Rule{Address: order.Address, Attribute: order.Attribute}, Owner: order.Owner, Reason: order.Reason,
		Expires: order.Expires})
	if err != nil {
		return nil, err
	}
	return tell(h.showDrift(ctx, r, l)), nil
}
