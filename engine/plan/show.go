package plan

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// Colours are the escape sequences of a terminal; the zero value has none.
type Colours struct{ Green, Yellow, Red, Reset string }

// Terminal are the colours of terminals.
func Terminal() Colours {
	return Colours{"\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[0m"}
}

// Show writes a plan for people: each change with its attributes, and how many there are.
func (p *Plan) Show(w io.Writer, colours Colours) error {
	var b strings.Builder
	for _, d := range p.Drift {
		fmt.Fprintf(&b, "%s was %s outside\n", d.Address, map[Action]string{Delete: "deleted"}[d.Action]+
			map[Action]string{Update: "changed"}[d.Action])
	}
	for _, c := range p.Changes {
		if c.Action != NoOp || c.Moved != "" || c.Imported != "" {
			c.show(&b, colours)
		}
	}
	for _, o := range p.Outputs {
		if o.Action != NoOp {
			after, before := text(o.After, o.Sensitive), text(o.Before, o.Sensitive)
			fmt.Fprintf(&b, "  %s output %s: %s -> %s\n", symbol(o.Action, colours), o.Name, before, after)
		}
	}
	if p.Empty() {
		b.WriteString("No changes. What there is matches the configuration.\n")
	} else {
		add, change, destroy := p.Count()
		fmt.Fprintf(&b, "\nPlan: %d to add, %d to change, %d to destroy.\n", add, change, destroy)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func symbol(a Action, c Colours) string {
	switch a {
	case Create:
		return c.Green + "+" + c.Reset
	case Update:
		return c.Yellow + "~" + c.Reset
	case Delete:
		return c.Red + "-" + c.Reset
	case DeleteThenCreate:
		return c.Red + "-" + c.Reset + "/" + c.Green + "+" + c.Reset
	case CreateBeforeDestroy:
		return c.Green + "+" + c.Reset + "/" + c.Red + "-" + c.Reset
	case Read:
		return "<="
	case Forget:
		return "."
	}
	return " "
}

func (c *Change) show(b *strings.Builder, colours Colours) {
	fmt.Fprintf(b, "  %s %s", symbol(c.Action, colours), c.Address)
	if c.Deposed != "" {
		fmt.Fprintf(b, " (deposed %s)", c.Deposed)
	}
	if c.Reason != "" {
		fmt.Fprintf(b, " (%s)", c.Reason)
	}
	if c.Moved != "" {
		fmt.Fprintf(b, " (moved from %s)", c.Moved)
	}
	b.WriteString("\n")
	if c.Action == Delete || c.Action == Forget || c.Action == NoOp {
		return
	}
	before, after := attributes(c.Before), attributes(c.After)
	hidden := map[string]bool{}
	for _, path := range slices.Concat(c.Sensitive, c.Schema.SensitivePaths(c.After)) {
		if step, ok := path[0].(cty.GetAttrStep); ok {
			hidden[step.Name] = true
		}
	}
	forced := map[string]bool{}
	for _, path := range c.RequiresReplace {
		if step, ok := path[0].(cty.GetAttrStep); ok {
			forced[step.Name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		old, had := before[name]
		now := after[name]
		if had && old.RawEquals(now) || !had && now.IsKnown() && now.IsNull() {
			continue
		}
		line := text(now, hidden[name])
		if had {
			line = text(old, hidden[name]) + " -> " + line
		}
		if forced[name] {
			line += " (replaces)"
		}
		fmt.Fprintf(b, "      %s: %s\n", name, line)
	}
}

func attributes(v cty.Value) map[string]cty.Value {
	if v == cty.NilVal || v.IsNull() || !v.IsKnown() {
		return nil
	}
	return v.AsValueMap()
}

// text is a value for people.
func text(v cty.Value, sensitive bool) string {
	switch {
	case sensitive:
		return "(sensitive value)"
	case v == cty.NilVal || v.IsKnown() && v.IsNull():
		return "null"
	case !v.IsWhollyKnown():
		return "(known after apply)"
	}
	b, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		return "(a value)"
	}
	return string(b)
}

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

// JSON is the plan in the shape of Terraform's show -json.
func (p *Plan) JSON() ([]byte, error) {
	document := struct {
		FormatVersion    string                `json:"format_version"`
		TerraformVersion string                `json:"terraform_version"`
		ResourceDrift    []jsonResource        `json:"resource_drift,omitempty"`
		ResourceChanges  []jsonResource        `json:"resource_changes"`
		OutputChanges    map[string]jsonChange `json:"output_changes"`
		Serial           uint64                `json:"holdfast_serial"`
		Lineage          string                `json:"holdfast_lineage,omitempty"`
	}{FormatVersion: "1.2", TerraformVersion: "1.5.7", ResourceChanges: []jsonResource{},
		OutputChanges: map[string]jsonChange{}, Serial: p.Recorded.Serial}
	if !p.Absent {
		document.Lineage = p.Recorded.Lineage // of a state that isn't there yet, each plan makes up another one
	}
	for _, c := range p.Changes {
		r, err := c.json()
		if err != nil {
			return nil, err
		}
		document.ResourceChanges = append(document.ResourceChanges, r)
	}
	for _, c := range p.Drift {
		r, err := c.json()
		if err != nil {
			return nil, err
		}
		document.ResourceDrift = append(document.ResourceDrift, r)
	}
	for _, o := range p.Outputs {
		change, err := changeJSON(o.Action, o.Before, o.After)
		if err != nil {
			return nil, err
		}
		change.BeforeSensitive, change.AfterSensitive = o.Sensitive, o.Sensitive
		document.OutputChanges[o.Name] = change
	}
	return json.Marshal(document)
}

func (c *Change) json() (jsonResource, error) {
	mode := "managed"
	if c.Address.Data {
		mode = "data"
	}
	change, err := changeJSON(c.Action, c.Before, c.After)
	change.BeforeSensitive = sensitivity(c.Before, append(c.Schema.SensitivePaths(c.Before), c.Sensitive...))
	change.AfterSensitive = sensitivity(c.After, append(c.Schema.SensitivePaths(c.After), c.Sensitive...))
	if c.Imported != "" {
		change.Importing = &jsonImport{c.Imported}
	}
	for _, path := range c.RequiresReplace {
		var steps []any
		for _, s := range path {
			switch s := s.(type) {
			case cty.GetAttrStep:
				steps = append(steps, s.Name)
			case cty.IndexStep:
				if s.Key.Type() == cty.String {
					steps = append(steps, s.Key.AsString())
				} else if s.Key.Type() == cty.Number {
					n, _ := s.Key.AsBigFloat().Int64()
					steps = append(steps, n)
				}
			}
		}
		line, err := json.Marshal(steps)
		if err != nil {
			return jsonResource{}, err
		}
		change.ReplacePaths = append(change.ReplacePaths, line)
	}
	return jsonResource{Address: c.Address.String(), PreviousAddress: c.Moved, ModuleAddress: c.Address.Module.String(),
		Mode: mode, Type: c.Address.Type, Name: c.Address.Name, Index: c.Address.Key, Deposed: c.Deposed,
		Provider: c.Provider.Provider.String(), Change: change}, err
}

func changeJSON(a Action, before, after cty.Value) (jsonChange, error) {
	actions := map[Action][]string{DeleteThenCreate: {"delete", "create"}, CreateBeforeDestroy: {"create", "delete"}}[a]
	if actions == nil {
		actions = []string{string(a)}
	}
	change := jsonChange{Actions: actions, AfterUnknown: unknowns(after)}
	var err error
	if change.Before, err = knownJSON(before); err != nil {
		return change, err
	}
	change.After, err = knownJSON(after)
	return change, err
}

// knownJSON is a value without what isn't known.
func knownJSON(v cty.Value) (json.RawMessage, error) {
	if v == cty.NilVal || !v.IsKnown() {
		return json.RawMessage("null"), nil
	}
	known, err := cty.Transform(v, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		if !v.IsKnown() {
			return cty.NullVal(v.Type()), nil
		}
		return v, nil
	})
	if err != nil {
		return nil, err
	}
	return ctyjson.SimpleJSONValue{Value: known}.MarshalJSON()
}

// unknowns is true for what isn't known, and an object or array of it for what has such parts.
func unknowns(v cty.Value) any {
	return marked(v, func(v cty.Value, _ cty.Path) bool { return !v.IsKnown() }, nil)
}

func sensitivity(v cty.Value, paths []cty.Path) any {
	return marked(v, func(_ cty.Value, at cty.Path) bool {
		return slices.ContainsFunc(paths, at.Equals)
	}, nil)
}

func marked(v cty.Value, is func(cty.Value, cty.Path) bool, at cty.Path) any {
	switch {
	case v == cty.NilVal:
		return false
	case is(v, at):
		return true
	case !v.IsKnown() || v.IsNull() || !v.CanIterateElements():
		return false
	}
	t := v.Type()
	if t.IsObjectType() || t.IsMapType() {
		all := map[string]any{}
		for name, inner := range v.AsValueMap() {
			step := cty.PathStep(cty.GetAttrStep{Name: name})
			if t.IsMapType() {
				step = cty.IndexStep{Key: cty.StringVal(name)}
			}
			if m := marked(inner, is, append(at.Copy(), step)); m != false {
				all[name] = m
			}
		}
		return all
	}
	all := []any{}
	for it := v.ElementIterator(); it.Next(); {
		key, inner := it.Element()
		all = append(all, marked(inner, is, append(at.Copy(), cty.IndexStep{Key: key})))
	}
	return all
}
