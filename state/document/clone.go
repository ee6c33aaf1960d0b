package document

import (
	"bytes"
	"slices"
)

// Clone returns a copy that keeps nothing of the bodies.
func (c *ResourceChange) Clone() ResourceChange {
	kept := *c
	kept.Fields = slices.Clone(c.Fields)
	for i := range kept.Fields {
		kept.Fields[i].Change = kept.Fields[i].clone()
	}
	kept.Attributes = slices.Clone(c.Attributes)
	for i := range kept.Attributes {
		kept.Attributes[i].Change = kept.Attributes[i].clone()
	}
	return kept
}

// Size returns how many bytes its values have.
func (c *ResourceChange) Size() (n int64) {
	for i := range c.Fields {
		n += c.Fields[i].size()
	}
	for i := range c.Attributes {
		n += c.Attributes[i].size()
	}
	return n
}

func (c Change) clone() Change { return Change{bytes.Clone(c.Before), bytes.Clone(c.After)} }

func (c Change) size() int64 { return int64(len(c.Before) + len(c.After)) }

// Size returns how many bytes the values of its instances have.
func (d *Document) Size() (n int64) {
	for i := range d.Instances {
		n += int64(len(d.Instances[i].Attributes))
		for _, raw := range d.Instances[i].fields {
			n += int64(len(raw))
		}
	}
	return n
}
