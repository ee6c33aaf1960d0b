package plan

import (
	"encoding/json"
	"errors"

	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/statefile"
)

// jsonChange is a change in the form of Terraform's show -json.
type jsonChange struct {
	Actions         []string          `json:"actions"`
	Before          json.RawMessage   `json:"before"`
	After           json.RawMessage   `json:"after,omitempty"`
	AfterUnknown    any               `json:"after_unknown"`
	BeforeSensitive any               `json:"before_sensitive"`
	AfterSensitive  any               `json:"after_sensitive"`
	ReplacePaths    []json.RawMessage `json:"replace_paths,omitempty"`
	Importing       *jsonImport       `json:"importing,omitempty"`
}

// jsonImport says by which ID an object is imported.
type jsonImport struct {
	ID string `json:"id"`
}

type jsonResource struct {
	Address         string     `json:"address"`
	PreviousAddress string     `json:"previous_address,omitempty"`
	ModuleAddress   string     `json:"module_address,omitempty"`
	Mode            string     `json:"mode"`
	Type            string     `json:"type"`
	Name            string     `json:"name"`
	Index           any        `json:"index,omitempty"`
	Deposed         string     `json:"deposed,omitempty"`
	Provider        string     `json:"provider_name"`
	Change          jsonChange `json:"change"`
}

// documentJSON is a plan in the shape of Terraform's show -json.
type documentJSON struct {
	FormatVersion    string                  `json:"format_version"`
	TerraformVersion string                  `json:"terraform_version"`
	Variables        map[string]variableJSON `json:"variables,omitempty"`
	PlannedValues    valuesJSON              `json:"planned_values"`
	ResourceDrift    []jsonResource          `json:"resource_drift,omitempty"`
	ResourceChanges  []jsonResource          `json:"resource_changes"`
	OutputChanges    map[string]jsonChange   `json:"output_changes,omitempty"`
	PriorState       *stateJSON              `json:"prior_state,omitempty"`
	Configuration    configurationJSON       `json:"configuration"`
	Serial           uint64                  `json:"holdfast_serial"`
	Lineage          string                  `json:"holdfast_lineage,omitempty"`
}

// JSON is the plan in the shape of Terraform's show -json.
func (p *Plan) JSON() ([]byte, error) {
	d := documentJSON{FormatVersion: "1.2", TerraformVersion: statefile.ToolVersion, ResourceChanges: []jsonResource{},
		OutputChanges: map[string]jsonChange{}, Configuration: p.configuration(), Serial: p.Recorded.Serial}
	if !p.Absent {
		d.Lineage = p.Recorded.Lineage // of a state that isn't there yet, each plan makes up another one
	}
	err := errors.Join(d.addChanges(p), d.addOutputs(p))
	if err != nil {
		return nil, err
	}
	if d.Variables, err = p.variables(); err != nil {
		return nil, err
	}
	if d.PlannedValues, err = p.plannedValues(); err != nil {
		return nil, err
	}
	if d.PriorState, err = p.priorState(); err != nil {
		return nil, err
	}
	return json.Marshal(d)
}

func (d *documentJSON) addChanges(p *Plan) error {
	for _, c := range p.Changes {
		r, err := c.json()
		if err != nil {
			return err
		}
		d.ResourceChanges = append(d.ResourceChanges, r)
	}
	for _, c := range p.Drift {
		r, err := c.json()
		if err != nil {
			return err
		}
		d.ResourceDrift = append(d.ResourceDrift, r)
	}
	return nil
}

func (d *documentJSON) addOutputs(p *Plan) error {
	for _, o := range p.Outputs {
		change, err := changeJSON(o.Action, o.Before, o.After)
		if err != nil {
			return err
		}
		if o.After.IsWhollyKnown() {
			change.AfterUnknown = false
		}
		change.BeforeSensitive, change.AfterSensitive = o.Sensitive, o.Sensitive
		d.OutputChanges[o.Name] = change
	}
	return nil
}

func (c *Change) json() (jsonResource, error) {
	change, err := changeJSON(c.Action, c.Before, c.After)
	change.BeforeSensitive = sensitivity(c.Before, append(c.Schema.SensitivePaths(c.Before), c.PriorSensitive...))
	change.AfterSensitive = sensitivity(c.After, append(c.Schema.SensitivePaths(c.After), c.Sensitive...))
	if c.Imported != "" {
		change.Importing = &jsonImport{c.Imported}
	}
	for _, path := range c.RequiresReplace {
		line, err := json.Marshal(steps(path))
		if err != nil {
			return jsonResource{}, err
		}
		change.ReplacePaths = append(change.ReplacePaths, line)
	}
	return jsonResource{Address: c.Address.String(), PreviousAddress: c.Moved, ModuleAddress: c.Address.Module.String(),
		Mode: mode(c.Address), Type: c.Address.Type, Name: c.Address.Name, Index: c.Address.Key, Deposed: c.Deposed,
		Provider: c.Provider.Provider.String(), Change: change}, err
}

func mode(a addr.Resource) string {
	if a.Data {
		return "data"
	}
	return "managed"
}

// steps are a path's names and indexes.
func steps(path cty.Path) []any {
	var all []any
	for _, s := range path {
		switch s := s.(type) {
		case cty.GetAttrStep:
			all = append(all, s.Name)
		case cty.IndexStep:
			if key, ok := addr.KeyOf(s.Key); ok {
				all = append(all, key)
			}
		}
	}
	return all
}

func changeJSON(a Action, before, after cty.Value) (jsonChange, error) {
	actions := map[Action][]string{DeleteThenCreate: {"delete", "create"}, CreateBeforeDestroy: {"create", "delete"}}[a]
	if actions == nil {
		actions = []string{string(a)}
	}
	change := jsonChange{Actions: actions, AfterUnknown: map[string]any{}}
	if !wholly(after) {
		change.AfterUnknown = unknowns(after)
	}
	var err error
	if change.Before, err = knownJSON(before); err != nil {
		return change, err
	}
	change.After, err = knownJSON(after)
	return change, err
}
