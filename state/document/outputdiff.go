package document

import "cmp"

func outputChanges(a, b *Document, options Options) []OutputChange {
	all := []OutputChange{}
	i, j := 0, 0
	for i < len(a.Outputs) || j < len(b.Outputs) {
		var before, after *Output
		order := 0
		switch {
		case i == len(a.Outputs):
			order = 1
		case j == len(b.Outputs):
			order = -1
		default:
			order = cmp.Compare(a.Outputs[i].Name, b.Outputs[j].Name)
		}
		if order <= 0 {
			before = &a.Outputs[i]
			i++
		}
		if order >= 0 {
			after = &b.Outputs[j]
			j++
		}
		if !before.same(after, options.meter) {
			if options.meter.add(outputBytes*4) != nil {
				return nil
			}
			all = append(all, outputChange(before, after, options))
		}
	}
	return all
}

func (o *Output) same(other *Output, in *meter) bool {
	return o != nil && other != nil &&
		o.Sensitive == other.Sensitive && o.Deprecated == other.Deprecated &&
		same(o.Type, other.Type, in) && same(o.Value, other.Value, in)
}

// outputChange shows a change. A value that is sensitive on one side is shown on neither:
// it may be the same value that was marked late.
func outputChange(before, after *Output, options Options) OutputChange {
	hide := !options.Reveal && (before.sensitive() || after.sensitive())
	c := OutputChange{Action: Changed, Before: before.shown(hide), After: after.shown(hide)}
	switch {
	case before == nil:
		c.Action, c.Name = Added, after.Name
	case after == nil:
		c.Action, c.Name = Removed, before.Name
	default:
		c.Name = after.Name
		c.Changes = valueChanges(c, options)
	}
	return c
}

// valueChanges says how the two values that an output shows differ.
func valueChanges(c OutputChange, options Options) []AttributeChange {
	all := compareValues(c.Before.Value, c.After.Value, nil, options)
	if len(all) == 1 && len(all[0].Path) == 0 && all[0].Inside == nil {
		return nil
	}
	return all
}

func (o *Output) sensitive() bool { return o != nil && o.Sensitive }

func (o *Output) shown(hide bool) *OutputValue {
	if o == nil {
		return nil
	}
	v := &OutputValue{Value: o.Value, Type: o.Type, Sensitive: o.Sensitive, Deprecated: o.Deprecated}
	if hide {
		v.Value = []byte(Masked)
	}
	return v
}
