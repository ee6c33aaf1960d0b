package plan

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/statefile"
)

// variableJSON is the value of one of the root's variables.
type variableJSON struct {
	Value json.RawMessage `json:"value"`
}

// valuesJSON are outputs, and objects by the modules that they are in.
type valuesJSON struct {
	Outputs map[string]outputJSON `json:"outputs,omitempty"`
	Root    *moduleValuesJSON     `json:"root_module"`
}

type outputJSON struct {
	Sensitive bool            `json:"sensitive"`
	Type      json.RawMessage `json:"type,omitempty"`
	Value     json.RawMessage `json:"value,omitempty"`
}

type moduleValuesJSON struct {
	Resources []objectJSON        `json:"resources,omitempty"`
	Address   string              `json:"address,omitempty"`
	Children  []*moduleValuesJSON `json:"child_modules,omitempty"`
}

type objectJSON struct {
	Address       string          `json:"address"`
	Mode          string          `json:"mode"`
	Type          string          `json:"type"`
	Name          string          `json:"name"`
	Index         any             `json:"index,omitempty"`
	Provider      string          `json:"provider_name"`
	SchemaVersion int64           `json:"schema_version"`
	Values        json.RawMessage `json:"values,omitempty"`
	Sensitive     any             `json:"sensitive_values"`
	DependsOn     []string        `json:"depends_on,omitempty"`
	Tainted       bool            `json:"tainted,omitempty"`
	Deposed       string          `json:"deposed_key,omitempty"`
}

// stateJSON is a state in the shape of show -json.
type stateJSON struct {
	FormatVersion    string     `json:"format_version"`
	TerraformVersion string     `json:"terraform_version"`
	Values           valuesJSON `json:"values"`
}

// variables are the values of the root's variables: those that were given, or their defaults.
func (p *Plan) variables() (map[string]variableJSON, error) {
	all := map[string]variableJSON{}
	for name, v := range p.Root.Variables {
		value, given := p.Inputs[name]
		if !given && v.Default != nil {
			value = *v.Default
		}
		if value == cty.NilVal {
			continue
		}
		value, err := v.Convert(value)
		if err != nil {
			return nil, err
		}
		text, err := knownJSON(value)
		if err != nil {
			return nil, err
		}
		all[name] = variableJSON{text}
	}
	return all, nil
}

// plannedValues are the objects and outputs that there will be, as far as they are known.
func (p *Plan) plannedValues() (valuesJSON, error) {
	tree := newTree()
	for _, c := range p.Changes {
		if c.Deposed != "" || c.Action == Delete || c.Action == Forget || c.After == cty.NilVal || !c.After.IsKnown() ||
			c.After.IsNull() {
			continue
		}
		text, err := knownJSON(c.After)
		if err != nil {
			return valuesJSON{}, err
		}
		tree.add(c.Address, objectJSON{Provider: c.Provider.Provider.String(), SchemaVersion: c.Schema.Version,
			Values: text, Sensitive: sensitivity(c.After, append(c.Schema.SensitivePaths(c.After), c.Sensitive...))})
	}
	values := valuesJSON{Outputs: map[string]outputJSON{}, Root: tree.sorted()}
	for _, o := range p.Outputs {
		if o.Action == Delete {
			continue
		}
		var err error
		if values.Outputs[o.Name], err = output(o.After, o.Sensitive); err != nil {
			return values, err
		}
	}
	return values, nil
}

// output is an output with its type and value if all of it is known.
func output(v cty.Value, sensitive bool) (outputJSON, error) {
	o := outputJSON{Sensitive: sensitive}
	if !v.IsWhollyKnown() {
		return o, nil
	}
	var err error
	if o.Type, err = ctyjson.MarshalType(v.Type()); err == nil {
		o.Value, err = knownJSON(v)
	}
	return o, err
}

// priorState is what there was before: what was recorded, with what reading the objects has told, and with
// the outputs that are known already. It is nil if there was nothing.
func (p *Plan) priorState() (*stateJSON, error) {
	tree := newTree()
	for i := range p.Prior.Resources {
		if err := p.addPrior(tree, &p.Prior.Resources[i]); err != nil {
			return nil, err
		}
	}
	outputs := map[string]outputJSON{}
	for name, o := range p.Recorded.Outputs {
		outputs[name] = outputJSON{o.Sensitive, o.Type, o.Value}
	}
	for _, o := range p.Outputs {
		if !o.After.IsWhollyKnown() {
			continue
		}
		if o.After.IsNull() {
			delete(outputs, o.Name)
			continue
		}
		shown, err := output(o.After, o.Sensitive)
		if err != nil {
			return nil, err
		}
		outputs[o.Name] = shown
	}
	if len(outputs) == 0 && len(p.Prior.Resources) == 0 {
		return nil, nil
	}
	return &stateJSON{"1.0", p.Prior.TerraformVersion, valuesJSON{outputs, tree.sorted()}}, nil
}

func (p *Plan) addPrior(tree *tree, r *statefile.Resource) error {
	base, err := r.Address()
	if err != nil {
		return err
	}
	source, _, err := addr.ParseProviderInState(r.Provider)
	if err != nil {
		return err
	}
	var schema *provider.Schema
	if schemas := p.registry.Known(source); schemas != nil {
		kind := provider.Managed
		if base.Data {
			kind = provider.Data
		}
		schema = schemas.Of(kind, r.Type)
	}
	for _, in := range r.Instances {
		o := objectJSON{Provider: source.String(), SchemaVersion: in.SchemaVersion, DependsOn: in.Dependencies,
			Tainted: in.Status == statefile.Tainted, Deposed: in.Deposed}
		if o.Values, o.Sensitive, err = recordedJSON(in, schema); err != nil {
			return err
		}
		tree.add(base.WithKey(in.IndexKey), o)
	}
	return nil
}

// recordedJSON is what is recorded of an object. What doesn't fit the schema, or has none here, because nothing
// was planned for it, is shown as it was recorded.
func recordedJSON(in statefile.Instance, schema *provider.Schema) (json.RawMessage, any, error) {
	none := map[string]any{}
	if schema == nil || len(in.Attributes) == 0 {
		return in.Attributes, none, nil
	}
	value, err := ctyjson.Unmarshal(in.Attributes, schema.CtyType())
	if err != nil {
		return in.Attributes, none, nil // an older schema's object
	}
	text, err := knownJSON(value)
	paths := append(schema.SensitivePaths(value), parsePaths(in.SensitiveAttributes)...)
	return text, sensitivity(value, paths), err
}

// tree has objects by their modules.
type tree struct{ modules map[string]*moduleValuesJSON }

func newTree() *tree { return &tree{map[string]*moduleValuesJSON{"": {}}} }

func (t *tree) add(a addr.Resource, o objectJSON) {
	o.Address, o.Mode, o.Type, o.Name, o.Index = a.String(), mode(a), a.Type, a.Name, a.Key
	m := t.module(a.Module)
	m.Resources = append(m.Resources, o)
}

func (t *tree) module(path addr.Module) *moduleValuesJSON {
	key := path.String()
	if m := t.modules[key]; m != nil {
		return m
	}
	m := &moduleValuesJSON{Address: key}
	t.modules[key] = m
	above := t.module(path[:len(path)-1])
	above.Children = append(above.Children, m)
	return m
}

// sorted is the root's module, with everything in the order of addresses.
func (t *tree) sorted() *moduleValuesJSON {
	for _, m := range t.modules {
		slices.SortFunc(m.Resources, func(a, b objectJSON) int {
			return cmp.Or(strings.Compare(a.Mode, b.Mode), strings.Compare(a.Type, b.Type),
				strings.Compare(a.Name, b.Name), addr.CompareKeys(a.Index, b.Index),
				strings.Compare(a.Deposed, b.Deposed))
		})
		slices.SortFunc(m.Children, func(a, b *moduleValuesJSON) int { return strings.Compare(a.Address, b.Address) })
	}
	return t.modules[""]
}
