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
	kept.Attributes = cloneAll(c.Attributes)
	return kept
}

func cloneAll(changes []AttributeChange) []AttributeChange {
	kept := slices.Clone(changes)
	for i := range kept {
		kept[i].Change = kept[i].clone()
		kept[i].Inside = cloneAll(kept[i].Inside)
	}
	return kept
}

// Size returns how many bytes its values have.
func (c *ResourceChange) Size() (n int64) {
	for i := range c.Fields {
		n += c.Fields[i].size()
	}
	return n + sizeOfAll(c.Attributes)
}

func sizeOfAll(changes []AttributeChange) (n int64) {
	for i := range changes {
		n += changes[i].size() + sizeOfAll(changes[i].Inside)
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
