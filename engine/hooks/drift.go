package hooks

import (
	"context"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/plan"
)

// Drifted is an object that was changed outside.
type Drifted struct {
	Address    string      `json:"address"`
	Action     plan.Action `json:"action"`               // update, or delete for one that is gone
	Attributes []string    `json:"attributes,omitempty"` // that differ; their values may be secret
}

// DriftReport is what a look has found.
type DriftReport struct {
	Time    time.Time `json:"timestamp"`
	Looked  int       `json:"looked_at"` // how many objects
	Drifted []Drifted `json:"drifted_resources"`
}

// Drift looks for what was changed outside. It takes no lock and changes nothing.
type Drift struct {
	Engine *engine.Engine

	// Ignore names attributes that don't count, by the resource's type; under "*" those of all types.
	Ignore map[string][]string

	// Every says how often objects of a type are looked at; those of a type that isn't there each time.
	Every map[string]time.Duration
	Now   func() time.Time // time.Now if nil

	// Alert is told of each report that has something.
	Alert []func(ctx context.Context, r DriftReport) error

	// Remediate brings back what the configuration says; nil only reports.
	Remediate func(ctx context.Context, r DriftReport) error

	looked map[string]time.Time // by type
}

// Look looks once.
func (d *Drift) Look(ctx context.Context) (DriftReport, error) {
	now := time.Now
	if d.Now != nil {
		now = d.Now
	}
	r := DriftReport{Time: now(), Drifted: []Drifted{}}
	due, types, err := d.due(ctx, r.Time)
	if err != nil || len(due) == 0 {
		return r, err
	}
	p, err := d.Engine.Plan(ctx, plan.Options{RefreshOnly: true, Targets: due})
	if err != nil {
		return r, err
	}
	for t := range types { // those that could not be looked at stay due
		d.looked[t] = r.Time
	}
	r.Looked = len(due)
	for _, c := range p.Drift {
		if found, ok := d.drifted(c); ok {
			r.Drifted = append(r.Drifted, found)
		}
	}
	if len(r.Drifted) == 0 {
		return r, nil
	}
	for _, alert := range d.Alert {
		if err := alert(ctx, r); err != nil {
			return r, err
		}
	}
	if d.Remediate != nil {
		return r, d.Remediate(ctx, r)
	}
	return r, nil
}

// due lists the objects of the state whose types are to be looked at now, and these types.
func (d *Drift) due(ctx context.Context, now time.Time) (due []addr.Resource, types map[string]bool, err error) {
	state, err := d.Engine.Store.Read(ctx)
	if err != nil || state == nil {
		return nil, nil, err
	}
	if d.looked == nil {
		d.looked = map[string]time.Time{}
	}
	types = map[string]bool{}
	for i := range state.Resources {
		r := &state.Resources[i]
		last, seen := d.looked[r.Type]
		if r.Mode != "managed" || seen && now.Sub(last) < d.Every[r.Type] {
			continue
		}
		base, err := r.Address()
		if err != nil {
			return nil, nil, err
		}
		types[r.Type] = true
		for _, in := range r.Instances {
			if in.Deposed == "" {
				due = append(due, base.WithKey(in.IndexKey))
			}
		}
	}
	return due, types, nil
}

// drifted is a change without what doesn't count; false if nothing is left.
func (d *Drift) drifted(c *plan.Change) (Drifted, bool) {
	found := Drifted{Address: c.Address.String(), Action: c.Action}
	if c.Action == plan.Delete {
		return found, true
	}
	ignored := slices.Concat(d.Ignore["*"], d.Ignore[c.Address.Type])
	before, after := c.Before.AsValueMap(), c.After.AsValueMap()
	for name, now := range after {
		if !slices.Contains(ignored, name) && (before[name] == cty.NilVal || !now.RawEquals(before[name])) {
			found.Attributes = append(found.Attributes, name)
		}
	}
	slices.Sort(found.Attributes)
	return found, len(found.Attributes) > 0
}
