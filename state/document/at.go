package document

import (
	"bytes"
	"iter"
)

// At returns a Document with the objects at an address, the current one and deposed ones,
// which keeps nothing of the body.
func (d *Document) At(address string) *Document {
	kept := &Document{TerraformVersion: d.TerraformVersion, Lineage: d.Lineage, Serial: d.Serial}
	for n := range d.Instances {
		if d.Instances[n].Address == address {
			kept.Instances = append(kept.Instances, d.Instances[n].clone())
		}
	}
	return kept
}

func (i *Instance) clone() Instance {
	c := *i
	c.Attributes = bytes.Clone(i.Attributes)
	for f, raw := range i.fields {
		c.fields[f] = bytes.Clone(raw)
	}
	return c
}

// ChangesAt returns those of the Changes after which an object is at the address, or before
// which it was.
func ChangesAt(a, b *Document, address string, options Options) iter.Seq2[*ResourceChange, error] {
	return changes(a, b, func(p pair) bool { return p.touches(address) }, options)
}

func (p pair) touches(address string) bool {
	return p.before != nil && p.before.Address == address || p.after != nil && p.after.Address == address
}
