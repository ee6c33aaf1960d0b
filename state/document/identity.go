package document

import (
	"encoding/json"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// concealed is what instances hide of their attributes. It hides the same in an identity,
// to which no mark leads: values, and members named like an attribute that is hidden.
type concealed struct {
	marks   *mask
	secrets secrets
}

func newConcealed() *concealed { return &concealed{secrets: newSecrets()} }

// add adds what an instance's own marks hide. Of a change both sides are added: what one
// side hides, no side shows.
func (c *concealed) add(i *Instance, marks *mask) {
	c.marks = c.marks.merge(marks)
	c.secrets.add(i.Attributes, marks.spans(i.Attributes, 0, nil))
}

// in returns what is sensitive in an identity; nil if nothing is.
func (c *concealed) in(identity []byte) *mask {
	if c.marks == nil || identity == nil {
		return nil
	}
	m := &mask{}
	if identity[0] == '{' {
		_ = jsonscan.Children(identity, func(member jsonscan.Child) error {
			if c.marks.of(member).hides() {
				m.at([]Step{stepTo(member)}).all = true
			}
			return nil
		})
	}
	m.hideSecrets(identity, 0, c.secrets)
	if !m.all && m.size() == 0 {
		return nil
	}
	return m
}

// identityMarks returns what is sensitive in the instance's identity by its own marks.
func (i *Instance) identityMarks(marks *mask) *mask {
	c := newConcealed()
	c.add(i, marks)
	return c.in(i.fields[FieldIdentity])
}

// identityChange shows a change of the identity without what is sensitive.
func identityChange(before, after *Instance) Change {
	c := newConcealed()
	c.add(before, before.marks())
	c.add(after, after.marks())
	shown := func(i *Instance) json.RawMessage {
		raw := i.fields[FieldIdentity]
		text, _ := c.in(raw).apply(raw)
		return text
	}
	return Change{Before: shown(before), After: shown(after)}
}
