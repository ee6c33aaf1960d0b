package document

import (
	"bytes"
	"maps"
	"slices"

	"github.com/holdfast/holdfast/jsonscan"
)

// maxDepth is how deep values are compared part by part; what lies deeper is compared as
// text. A state has no limit to its depth, and each level costs a scan.
const maxDepth = 64

// comparison collects the differences of two values.
type comparison struct {
	path    Path // to the values at hand
	changes []AttributeChange
}

// compareValues lists the differences of two JSON values, either of which may be nil.
// Where the mask hides a value, no more is shown than that it differs.
func compareValues(a, b []byte, m *mask) []AttributeChange {
	var c comparison
	c.value(a, b, m)
	return c.changes
}

// same reports whether two JSON values say the same: white space, the order of members,
// escapes and the way to write a number don't count.
func same(a, b []byte) bool {
	return sameText(a, b) || len(compareValues(a, b, nil)) == 0
}

func (c *comparison) value(a, b []byte, m *mask) {
	switch {
	case sameText(a, b):
	case a == nil || b == nil:
		c.add(a, b, m)
	case m.hides():
		if !same(a, b) {
			c.add(a, b, m)
		}
	case startOf(a) != startOf(b) && !(isNumber(a) && isNumber(b)):
		c.add(a, b, m)
	case a[0] == '{' && len(c.path) < maxDepth:
		c.object(a, b, m)
	case a[0] == '[' && len(c.path) < maxDepth:
		c.array(a, b, m)
	case !sameScalar(a, b):
		c.add(a, b, m)
	}
}

func isNumber(raw []byte) bool { return raw[0] == '-' || startOf(raw) == '0' }

func sameScalar(a, b []byte) bool {
	if isNumber(a) {
		return sameNumber(string(a), string(b))
	}
	x, ok := jsonscan.Unquote(a)
	y, _ := jsonscan.Unquote(b)
	return ok && bytes.Equal(x, y)
}

func (c *comparison) object(a, b []byte, m *mask) {
	before, after := membersOf(a), membersOf(b)
	names := slices.Collect(maps.Keys(before))
	for name := range after {
		if before[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		c.child(Named(name), before[name], after[name], m)
	}
}

func (c *comparison) array(a, b []byte, m *mask) {
	before, after := elementsOf(a), elementsOf(b)
	for i := range max(len(before), len(after)) {
		c.child(Nth(i), nth(before, i), nth(after, i), m)
	}
}

func (c *comparison) child(s Step, a, b []byte, m *mask) {
	c.path = append(c.path, s)
	c.value(a, b, m.child(s))
	c.path = c.path[:len(c.path)-1]
}

func (c *comparison) add(a, b []byte, m *mask) {
	before, hidBefore := m.apply(a)
	after, hidAfter := m.apply(b)
	c.changes = append(c.changes, AttributeChange{
		Path:      append(Path{}, c.path...),
		Change:    Change{Before: before, After: after},
		Sensitive: hidBefore || hidAfter,
	})
}

// membersOf returns the members of an object; of those with the same name the last, as
// the clients' reader does.
func membersOf(raw []byte) map[string][]byte {
	all := map[string][]byte{}
	_ = jsonscan.Children(raw, func(c jsonscan.Child) error {
		all[string(c.Name)] = raw[c.Start:c.End:c.End]
		return nil
	})
	return all
}

// memberOf returns the member with this name, the last if there are several; nil without.
func memberOf(raw []byte, name string) []byte {
	var found []byte
	_ = jsonscan.Children(raw, func(c jsonscan.Child) error {
		if string(c.Name) == name {
			found = raw[c.Start:c.End:c.End]
		}
		return nil
	})
	return found
}

func elementsOf(raw []byte) [][]byte {
	var all [][]byte
	_ = jsonscan.Children(raw, func(c jsonscan.Child) error {
		all = append(all, raw[c.Start:c.End:c.End])
		return nil
	})
	return all
}

func nth(all [][]byte, i int) []byte {
	if i < len(all) {
		return all[i]
	}
	return nil
}
