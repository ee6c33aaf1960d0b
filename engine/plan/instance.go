package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/mark"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/statefile"
)

// instance plans one instance and returns its value as others see it.
func (p *planner) instance(c *Change, configured provider.Provider) (cty.Value, error) {
	config, err := c.Scope.Body(c.Block.Body, c.Schema.Block, c.Repeat, c.Block.Construct())
	if err != nil {
		return cty.NilVal, err
	}
	if err := c.Scope.Check(c.Block.Lifecycle.Preconditions, c.Repeat, c.Block.Construct()); err != nil {
		return cty.NilVal, err
	}
	bare, sensitive := mark.Paths(config)
	c.Sensitive = sensitive
	kind := provider.Managed
	if c.Block.Data {
		kind = provider.Data
	}
	if err := configured.ValidateResource(p.ctx, kind, c.Address.Type, bare); err != nil {
		return cty.NilVal, err
	}
	if c.Block.Data {
		return p.data(c, configured, bare)
	}
	if err := p.managed(c, configured, bare); err != nil {
		return cty.NilVal, err
	}
	p.note(c)
	if err := p.deposed(c, false); err != nil {
		return cty.NilVal, err
	}
	value := shown(c.After, c.Schema, c.Sensitive)
	repeat := c.Repeat
	repeat.Self = value
	return value, c.Scope.Check(c.Block.Lifecycle.Postconditions, repeat, c.Block.Construct())
}

// data reads a data source, or leaves it to the apply if it depends on what isn't there yet.
func (p *planner) data(c *Change, configured provider.Provider, config cty.Value) (cty.Value, error) {
	var value cty.Value
	if !config.IsWhollyKnown() || p.waits(c) {
		c.Action, c.Before, c.After = Read, cty.NullVal(c.Schema.CtyType()), Unsettled(c.Schema.Block, config)
		c.Reason = "read during apply"
		p.plan.Prior.Remove(c.Address, "") // what was read before doesn't count any more
		p.note(c)
		return shown(c.After, c.Schema, c.Sensitive), nil
	}
	value, err := configured.ReadData(p.ctx, c.Address.Type, config)
	if err != nil {
		return cty.NilVal, err
	}
	in, err := Recorded(value, c.Schema, c.Sensitive)
	if err != nil {
		return cty.NilVal, err
	}
	p.plan.Prior.Set(c.Address, c.Provider.InState(), in)
	return shown(value, c.Schema, c.Sensitive), nil
}

// waits reports whether what depends_on names is about to change.
func (p *planner) waits(c *Change) bool {
	if len(c.Block.DependsOn) == 0 {
		return false
	}
	return slices.ContainsFunc(c.Block.DependsOn, func(t hclTraversal) bool {
		r, err := addr.OfTraversal(t)
		r.Module = append(slices.Clone(c.Address.Module), r.Module...)
		if err == nil && r.Type == "" {
			return p.pendingWithin(r.Module.Config() + ".")
		}
		return err == nil && p.pending[r.Config()]
	})
}

// pendingWithin reports whether anything in a module is about to change.
func (p *planner) pendingWithin(prefix string) bool {
	for address := range p.pending {
		if strings.HasPrefix(address, prefix) {
			return true
		}
	}
	return false
}

// managed decides what happens to a resource's object.
func (p *planner) managed(c *Change, configured provider.Provider, config cty.Value) error {
	null := cty.NullVal(c.Schema.CtyType())
	c.Before = null
	c.CreateFirst = p.createFst[c.Address.Config()]
	rec := p.recorded[c.Address.String()]
	tainted := false
	var recordedPaths []cty.Path
	if rec != nil && rec.current != nil {
		if err := p.refresh(c, rec, configured); err != nil {
			return err
		}
		c.Moved, c.Imported, tainted = rec.moved, rec.imported, rec.current.Status == statefile.Tainted
		recordedPaths = parsePaths(rec.current.SensitiveAttributes)
		c.PriorSensitive = recordedPaths
	}
	if p.plan.Options.RefreshOnly {
		c.Action, c.After = NoOp, c.Before
		if c.Before.IsNull() {
			c.After = cty.UnknownVal(null.Type())
		}
		return nil
	}
	whole := config
	if !c.Before.IsNull() {
		config = Ignore(c, config)
	}
	planned, err := p.predict(c, configured, c.Before, config, c.PriorPrivate)
	if err != nil {
		return err
	}
	c.After, c.PlannedPrivate, c.Legacy = planned.Planned, planned.Private, planned.Legacy
	switch {
	case c.Before.IsNull():
		c.Action = Create
		return nil
	case tainted:
		c.Reason = "tainted"
	case slices.ContainsFunc(p.plan.Options.Replace,
		func(a addr.Resource) bool { return a.String() == c.Address.String() }):
		c.Reason = "replaced on request"
	default:
		for _, path := range planned.RequiresReplace {
			if changes(c.Before, c.After, path) {
				c.RequiresReplace = append(c.RequiresReplace, path)
			}
		}
		if len(c.RequiresReplace) > 0 {
			c.Reason = "cannot change in place"
		} else if c.Reason, err = p.triggered(c); err != nil {
			return err
		}
	}
	if c.Reason != "" {
		return p.replace(c, configured, whole)
	}
	c.Action = NoOp
	// Some clients record what the schema calls sensitive too, and others only what the configuration does.
	always := c.Schema.SensitivePaths(c.After)
	if !c.Before.RawEquals(c.After) || !samePaths(append(recordedPaths, always...), append(always, c.Sensitive...)) {
		c.Action = Update
	}
	return nil
}

// predict asks the provider what comes of a configuration.
func (p *planner) predict(c *Change, configured provider.Provider, prior, config cty.Value, private []byte) (
	provider.PlanResult, error) {
	proposed := Propose(c.Schema.Block, prior, config)
	planned, err := configured.Plan(p.ctx, provider.PlanRequest{Type: c.Address.Type, Prior: prior,
		Proposed: proposed, Config: config, Private: private})
	if err != nil {
		return planned, err
	}
	if planned.Planned == cty.NilVal || !planned.Legacy && !planned.Planned.Type().Equals(c.Schema.CtyType()) &&
		len(planned.Planned.Type().TestConformance(c.Schema.CtyType())) > 0 {
		return planned, &provider.Fault{Summary: "the provider's plan doesn't fit its own schema"}
	}
	return planned, nil
}

// replace plans an object that takes the place of another.
func (p *planner) replace(c *Change, configured provider.Provider, config cty.Value) error {
	planned, err := p.predict(c, configured, cty.NullVal(c.Schema.CtyType()), config, nil)
	if err != nil {
		return err
	}
	c.After, c.PlannedPrivate = planned.Planned, planned.Private
	if c.Block.Lifecycle.PreventDestroy {
		return prevented(c)
	}
	c.Action = DeleteThenCreate
	if c.CreateFirst {
		c.Action = CreateBeforeDestroy
	}
	return nil
}

func prevented(c *Change) error {
	return diag.At(c.Block.Range, c.Block.Construct(), "%s would be destroyed, and its prevent_destroy forbids that",
		c.Address).
		WithHint("take prevent_destroy out if it is meant")
}

// refresh brings a record to what the object is now. One that is gone is planned to be created again.
func (p *planner) refresh(c *Change, rec *record, configured provider.Provider) error {
	if rec.current.SchemaVersion > c.Schema.Version {
		return diag.Stateful(nil, "%s was recorded by a newer provider: version %d of its schema, here is %d", c.Address,
			rec.current.SchemaVersion, c.Schema.Version)
	}
	value, err := configured.Upgrade(p.ctx, c.Address.Type, rec.current.SchemaVersion, rec.current.Attributes)
	if err != nil {
		return err
	}
	c.Before, c.PriorPrivate = value, rec.current.Private
	if p.plan.Options.NoRefresh {
		return nil
	}
	object, err := configured.Read(p.ctx, provider.ReadRequest{Type: c.Address.Type,
		Object: provider.Object{Value: value, Private: rec.current.Private}})
	if err != nil {
		return err
	}
	if !object.Value.RawEquals(value) {
		paths := parsePaths(rec.current.SensitiveAttributes)
		p.plan.Drift = append(p.plan.Drift, &Change{Address: c.Address, Action: driftOf(object.Value), Before: value,
			After: object.Value, Schema: c.Schema, Sensitive: paths, PriorSensitive: paths})
	}
	c.Before, c.PriorPrivate = object.Value, object.Private
	if object.Value.IsNull() {
		p.plan.Prior.Remove(c.Address, "")
		return nil
	}
	in, err := Recorded(object.Value, c.Schema, parsePaths(rec.current.SensitiveAttributes))
	if err != nil {
		return err
	}
	in.Private, in.Status = object.Private, rec.current.Status
	in.Dependencies, in.CreateBeforeDestroy = rec.current.Dependencies, rec.current.CreateBeforeDestroy
	in.Identity, in.IdentityVersion = rec.current.Identity, rec.current.IdentityVersion
	in.SkipDestroy = rec.current.SkipDestroy
	p.plan.Prior.Set(c.Address, c.Provider.InState(), in)
	return nil
}

func driftOf(now cty.Value) Action {
	if now.IsNull() {
		return Delete
	}
	return Update
}

// changes reports whether a path has another value afterwards.
func changes(before, after cty.Value, path cty.Path) bool {
	a, errA := path.Apply(before)
	b, errB := path.Apply(after)
	if errA != nil || errB != nil {
		return errA == nil || errB == nil
	}
	return !a.RawEquals(b)
}

// triggered looks at what replace_triggered_by names.
func (p *planner) triggered(c *Change) (string, error) {
	for _, expr := range c.Block.Lifecycle.ReplaceTriggeredBy {
		if _, err := c.Scope.Eval(expr, c.Repeat, c.Block.Construct()); err != nil {
			return "", err
		}
		for _, t := range expr.Variables() {
			if root := t.RootName(); root == "each" || root == "count" {
				continue
			}
			reason, ok := p.triggers(c, t)
			if !ok {
				return "", diag.At(t.SourceRange(), c.Block.Construct(), "replace_triggered_by names resources of this module")
			}
			if reason != "" {
				return reason, nil
			}
		}
	}
	return "", nil
}

// triggers reports whether what a reference names changes.
func (p *planner) triggers(c *Change, t hclTraversal) (string, bool) {
	r, path, ok := splitReference(t)
	if !ok {
		return "", false
	}
	r.Module = c.Address.Module
	for _, other := range p.plan.Changes {
		if other.Address.Whole() != r.Whole() || r.Key != nil && other.Address.Key != r.Key || other.Deposed != "" {
			continue
		}
		if len(path) == 0 && (other.Action == Update || other.Action.Replaces()) ||
			len(path) > 0 && !other.Before.IsNull() && changes(other.Before, other.After, path) {
			return fmt.Sprintf("replaced because %s changes", other.Address), true
		}
	}
	return "", true
}
