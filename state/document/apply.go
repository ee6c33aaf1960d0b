package document

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Apply makes the changes of a Diff in a and returns what comes out: for the Diff of a and
// b that is b, but for white space and the order of members. a stays as it is.
//
// A masked Diff can't be applied, nor one to a state that lacks what it changes.
func Apply(a *Document, d *Diff) (*Document, error) {
	if d.Masked {
		return nil, errors.New("a masked diff has no values to apply")
	}
	b := &Document{TerraformVersion: a.TerraformVersion, Lineage: a.Lineage, Serial: a.Serial}
	if d.TerraformVersion != nil {
		b.TerraformVersion = textOf(d.TerraformVersion.After)
	}
	if d.Lineage != nil {
		b.Lineage = textOf(d.Lineage.After)
	}
	if d.Serial != nil {
		var err error
		if b.Serial, err = strconv.ParseUint(string(d.Serial.After), 10, 64); err != nil {
			return nil, err
		}
	}
	b.Outputs = applyOutputs(a.Outputs, d.Outputs)
	var err error
	b.Instances, err = applyResources(a.Instances, d.Resources)
	return b, err
}

func applyOutputs(all []Output, changes []OutputChange) []Output {
	changed := map[string]bool{}
	var out []Output
	for _, c := range changes {
		changed[c.Name] = true
		if v := c.After; v != nil {
			out = append(out, Output{Name: c.Name, Value: v.Value, Type: v.Type, Sensitive: v.Sensitive,
				Deprecated: v.Deprecated})
		}
	}
	for _, o := range all {
		if !changed[o.Name] {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b Output) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func applyResources(all []Instance, changes []ResourceChange) ([]Instance, error) {
	before := map[string]*Instance{}
	for i := range all {
		before[all[i].Place.String()] = &all[i]
	}
	gone := map[string]bool{}
	var out []Instance
	for _, c := range changes {
		from, old := c.origin(), &Instance{}
		if from != nil {
			gone[from.String()] = true
			if old = before[from.String()]; old == nil {
				return nil, fmt.Errorf("the state has no %s", from)
			}
		}
		if c.Action == Removed {
			continue
		}
		next, err := old.changed(c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Place, err)
		}
		out = append(out, next)
	}
	for i := range all {
		if !gone[all[i].Place.String()] {
			out = append(out, all[i])
		}
	}
	slices.SortFunc(out, func(a, b Instance) int { return a.compare(b.Place) })
	return out, nil
}

// origin is where the instance was before; nil for one that was added.
func (c *ResourceChange) origin() *Place {
	switch c.Action {
	case Added:
		return nil
	case Moved:
		return c.Previous
	default:
		return &c.Place
	}
}

// changed returns the instance as it is after the change.
func (i *Instance) changed(c ResourceChange) (Instance, error) {
	next := *i
	next.Place = c.Place
	for _, change := range c.Fields {
		f, ok := fieldNamed([]byte(change.Field))
		if !ok {
			return next, fmt.Errorf("there is no field %q", change.Field)
		}
		next.fields[f] = change.After
	}
	next.Attributes = applyChanges(i.Attributes, c.Attributes, 0)
	return next, nil
}

// applyChanges returns the value with the changes made that share its path, which has
// depth steps; nil if it is gone.
func applyChanges(raw json.RawMessage, changes []AttributeChange, depth int) json.RawMessage {
	switch {
	case len(changes) == 0:
		return raw
	case len(changes[0].Path) == depth:
		return changes[0].After
	case raw[0] == '[':
		return applyToArray(raw, changes, depth)
	default:
		return applyToObject(raw, changes, depth)
	}
}
