package plan

import (
	"encoding/json"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/statefile"
)

type hclTraversal = hcl.Traversal

// Recorded is an object as states have it. What is write-only isn't kept.
func Recorded(value cty.Value, schema *provider.Schema, sensitive []cty.Path) (statefile.Instance, error) {
	text, err := ctyjson.Marshal(schema.WithoutWriteOnly(value), schema.CtyType())
	if err != nil {
		return statefile.Instance{}, err
	}
	return statefile.Instance{SchemaVersion: schema.Version, Attributes: text,
		SensitiveAttributes: formatPaths(sensitive)}, nil
}

// step is one step of a path as states have it.
type step struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

func formatPaths(paths []cty.Path) json.RawMessage {
	all := make([][]step, 0, len(paths))
	for _, path := range paths {
		var steps []step
		for _, s := range path {
			switch s := s.(type) {
			case cty.GetAttrStep:
				text, _ := json.Marshal(s.Name)
				steps = append(steps, step{"get_attr", text})
			case cty.IndexStep:
				if s.Key.Type() != cty.String && s.Key.Type() != cty.Number {
					break // a set's element: the set is what is sensitive
				}
				text, err := ctyjson.Marshal(s.Key, cty.DynamicPseudoType)
				if err != nil {
					break
				}
				steps = append(steps, step{"index", text})
			}
		}
		all = append(all, steps)
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil
	}
	return text
}

func parsePaths(text json.RawMessage) []cty.Path {
	var all [][]step
	if len(text) == 0 || json.Unmarshal(text, &all) != nil {
		return nil
	}
	var paths []cty.Path
	for _, steps := range all {
		var path cty.Path
		for _, s := range steps {
			if s.Type == "get_attr" {
				var name string
				if json.Unmarshal(s.Value, &name) == nil {
					path = path.GetAttr(name)
				}
			} else if key, err := ctyjson.Unmarshal(s.Value, cty.DynamicPseudoType); err == nil {
				path = path.Index(key)
			}
		}
		paths = append(paths, path)
	}
	return paths
}

func samePaths(a, b []cty.Path) bool {
	return cty.NewPathSet(a...).Equal(cty.NewPathSet(b...))
}

// splitReference is the resource that a reference names, and the path within it.
func splitReference(t hcl.Traversal) (addr.Resource, cty.Path, bool) {
	for n := len(t); n >= 2; n-- {
		r, err := addr.OfTraversal(t[:n])
		if err != nil || r.Type == "" || len(r.Module) > 0 {
			continue
		}
		var path cty.Path
		for _, s := range t[n:] {
			switch s := s.(type) {
			case hcl.TraverseAttr:
				path = path.GetAttr(s.Name)
			case hcl.TraverseIndex:
				path = path.Index(s.Key)
			}
		}
		return r, path, true
	}
	return addr.Resource{}, nil, false
}

// Ignore puts what is there in place of what the configuration says, where ignore_changes wants that.
func Ignore(c *Change, config cty.Value) cty.Value {
	l := c.Block.Lifecycle
	if l.IgnoreAll {
		values := c.Before.AsValueMap()
		for name, a := range c.Schema.Attributes {
			if a.Computed && !a.Optional {
				values[name] = cty.NullVal(a.CtyType())
			}
		}
		return cty.ObjectVal(values)
	}
	for _, t := range l.Ignore {
		var path cty.Path
		for _, s := range t {
			switch s := s.(type) {
			case hcl.TraverseAttr:
				path = path.GetAttr(s.Name)
			case hcl.TraverseIndex:
				path = path.Index(s.Key)
			}
		}
		config = ignored(c.Before, config, path)
	}
	return config
}

// ignored takes one path of a configuration from what is there.
func ignored(prior, config cty.Value, path cty.Path) cty.Value {
	if len(path) == 0 {
		return prior
	}
	if config.IsNull() || !config.IsKnown() || prior.IsNull() || !prior.IsKnown() {
		return config
	}
	var key string
	switch s := path[0].(type) {
	case cty.GetAttrStep:
		key = s.Name
	case cty.IndexStep:
		if s.Key.Type() != cty.String {
			return ignoredElement(prior, config, path)
		}
		key = s.Key.AsString()
	}
	t := config.Type()
	if !t.IsObjectType() && !t.IsMapType() || !prior.CanIterateElements() {
		return config
	}
	values, before := config.AsValueMap(), prior.AsValueMap()
	if values == nil {
		values = map[string]cty.Value{}
	}
	old, hadOld := before[key]
	now, hasNow := values[key]
	switch {
	case hadOld && hasNow:
		values[key] = ignored(old, now, path[1:])
	case hadOld && len(path) == 1:
		values[key] = old
	case hasNow && len(path) == 1 && t.IsMapType():
		delete(values, key)
	}
	if t.IsObjectType() {
		return cty.ObjectVal(values)
	}
	if len(values) == 0 {
		return cty.MapValEmpty(t.ElementType())
	}
	return cty.MapVal(values)
}

// ignoredElement is ignored for an element of a list.
func ignoredElement(prior, config cty.Value, path cty.Path) cty.Value {
	t := config.Type()
	if !t.IsListType() && !t.IsTupleType() {
		return config
	}
	old, err := path[:1].Apply(prior)
	if err != nil {
		return config
	}
	values := config.AsValueSlice()
	at, _ := path[0].(cty.IndexStep).Key.AsBigFloat().Int64()
	if at < 0 || at >= int64(len(values)) {
		return config
	}
	values[at] = ignored(old, values[at], path[1:])
	if t.IsTupleType() {
		return cty.TupleVal(values)
	}
	return cty.ListVal(values)
}
