package plan

import (
	"encoding/json"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/provider"
)

// configurationJSON is what the configuration says, in the shape of show -json.
type configurationJSON struct {
	Providers map[string]providerJSON `json:"provider_config,omitempty"`
	Root      moduleJSON              `json:"root_module"`
}

type providerJSON struct {
	Name        string         `json:"name"`
	FullName    string         `json:"full_name"`
	Alias       string         `json:"alias,omitempty"`
	Version     string         `json:"version_constraint,omitempty"`
	Module      string         `json:"module_address,omitempty"`
	Expressions map[string]any `json:"expressions,omitempty"`
}

type moduleJSON struct {
	Outputs   map[string]outputConfigJSON   `json:"outputs,omitempty"`
	Resources []resourceConfigJSON          `json:"resources,omitempty"`
	Calls     map[string]callJSON           `json:"module_calls,omitempty"`
	Variables map[string]variableConfigJSON `json:"variables,omitempty"`
}

type outputConfigJSON struct {
	Sensitive   bool           `json:"sensitive,omitempty"`
	Expression  expressionJSON `json:"expression"`
	DependsOn   []string       `json:"depends_on,omitempty"`
	Description string         `json:"description,omitempty"`
}

type resourceConfigJSON struct {
	Address       string          `json:"address"`
	Mode          string          `json:"mode"`
	Type          string          `json:"type"`
	Name          string          `json:"name"`
	Provider      string          `json:"provider_config_key"`
	Expressions   map[string]any  `json:"expressions,omitempty"`
	SchemaVersion int64           `json:"schema_version"`
	Count         *expressionJSON `json:"count_expression,omitempty"`
	ForEach       *expressionJSON `json:"for_each_expression,omitempty"`
	DependsOn     []string        `json:"depends_on,omitempty"`
}

type callJSON struct {
	Source      string          `json:"source"`
	Expressions map[string]any  `json:"expressions,omitempty"`
	Count       *expressionJSON `json:"count_expression,omitempty"`
	ForEach     *expressionJSON `json:"for_each_expression,omitempty"`
	Module      moduleJSON      `json:"module"`
	DependsOn   []string        `json:"depends_on,omitempty"`
}

type variableConfigJSON struct {
	Type        json.RawMessage `json:"type,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
	Description string          `json:"description,omitempty"`
	Required    bool            `json:"required,omitempty"`
	Sensitive   bool            `json:"sensitive,omitempty"`
}

// place is a module where it is called, whatever its instances are.
type place struct {
	module *config.Module
	call   *config.Call
	above  *place
	path   addr.Module
}

// described writes a configuration down.
type described struct {
	registry  *provider.Registry
	providers map[string]providerJSON
}

func (p *Plan) configuration() configurationJSON {
	d := described{p.registry, map[string]providerJSON{}}
	root := d.module(&place{module: p.Root})
	return configurationJSON{d.providers, root}
}

func (d *described) module(at *place) moduleJSON {
	d.moduleProviders(at)
	m := moduleJSON{Outputs: map[string]outputConfigJSON{}, Calls: map[string]callJSON{},
		Variables: map[string]variableConfigJSON{}}
	for name, o := range at.module.Outputs {
		m.Outputs[name] = outputConfigJSON{o.Sensitive, expression(o.Expr), dependsOn(o.DependsOn), o.Description}
	}
	for name, v := range at.module.Variables {
		m.Variables[name] = describeVariable(v)
	}
	var data []resourceConfigJSON
	for _, r := range at.module.SortedResources() {
		if shown := d.resource(at, r); r.Data {
			data = append(data, shown)
		} else {
			m.Resources = append(m.Resources, shown)
		}
	}
	m.Resources = append(m.Resources, data...)
	for name, c := range at.module.Calls {
		inner := d.module(&place{c.Module, c, at, at.path.Child(name, nil)})
		m.Calls[name] = callJSON{c.Source, arguments(c), repeated(c.Count), repeated(c.ForEach), inner,
			dependsOn(c.DependsOn)}
	}
	return m
}

func describeVariable(v *config.Variable) variableConfigJSON {
	shown := variableConfigJSON{Description: v.Description, Sensitive: v.Sensitive}
	if v.Type != cty.DynamicPseudoType {
		shown.Type, _ = ctyjson.MarshalType(v.Type) // types of variables have no capsules
		shown.Required = v.Default == nil
	}
	if v.Default != nil {
		shown.Default, _ = knownJSON(*v.Default)
	}
	return shown
}

func (d *described) resource(at *place, r *config.Resource) resourceConfigJSON {
	a := r.Address(nil, nil)
	shown := resourceConfigJSON{Address: a.String(), Mode: mode(a), Type: r.Type, Name: r.Name,
		Provider: d.providerOf(at, r.Provider), Count: repeated(r.Count), ForEach: repeated(r.ForEach),
		DependsOn: dependsOn(r.DependsOn)}
	var block *provider.Block
	if schema := d.schemaOf(at, r); schema != nil {
		shown.SchemaVersion, block = schema.Version, schema.Block
	}
	shown.Expressions = expressions(r.Body, block)
	return shown
}

func (d *described) schemaOf(at *place, r *config.Resource) *provider.Schema {
	source, err := Source(at.module, r.Provider)
	if err != nil {
		return nil
	}
	schemas := d.registry.Known(source)
	if schemas == nil {
		return nil
	}
	if r.Data {
		return schemas.Data[r.Type]
	}
	return schemas.Resources[r.Type]
}

func repeated(e hcl.Expression) *expressionJSON {
	if e == nil {
		return nil
	}
	shown := expression(e)
	return &shown
}

func dependsOn(all []hcl.Traversal) []string {
	var names []string
	for _, t := range all {
		names = append(names, reference(t))
	}
	return names
}
