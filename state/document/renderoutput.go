package document

import "encoding/json"

func (r *renderer) output(c *OutputChange) {
	before, after := c.Before, c.After
	switch {
	case before == nil:
		r.value("  ", c.Name, Change{After: after.Value})
		return
	case after == nil:
		r.value("  ", c.Name, Change{Before: before.Value})
		return
	}
	if len(c.Changes) == 0 {
		r.change("  ", Path{Named(c.Name)}, AttributeChange{Change: Change{Before: before.Value, After: after.Value}})
	}
	for _, inside := range c.Changes {
		r.change("  ", append(Path{Named(c.Name)}, inside.Path...), inside)
	}
	if !same(before.Type, after.Type, r.in) {
		r.line("      # type: %s -> %s", shown(before.Type), shown(after.Type))
	}
	if before.Sensitive != after.Sensitive {
		r.line("      # %s", sensitivity(after.Sensitive))
	}
	if before.Deprecated != after.Deprecated {
		r.line("      # deprecated: %s -> %s", quoted(before.Deprecated), quoted(after.Deprecated))
	}
}

func sensitivity(sensitive bool) string {
	if sensitive {
		return "is now sensitive"
	}
	return "is no longer sensitive"
}

// shown returns a value for a line of text: compact, without quotes around a masked one.
func shown(raw json.RawMessage) string {
	switch {
	case raw == nil:
		return "(none)"
	case string(raw) == Masked:
		return "(sensitive value)"
	case raw[0] == '"':
		return quoted(textOf(raw))
	}
	return printable(string(appendCompact(nil, raw)))
}
