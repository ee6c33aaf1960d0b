package document

import (
	"bytes"
	"maps"
	"slices"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// maxDepth is how deep values are compared part by part; what lies deeper is compared as
// text. A state has no limit to its depth, and each level costs a scan.
const maxDepth = 64

// comparison collects the differences of two values.
type comparison struct {
	in      *meter
	effort  *effort
	path    Path // to the values at hand
	nested  int  // in how many strings of JSON they are
	quick   bool // whether it is enough to know that there is a change
	changes []AttributeChange
	made    int64 // what they take
	differ  bool  // whether there is a change
}

// compareValues lists the differences of two JSON values, either of which may be nil.
// Where the mask hides a value, no more is shown than that it differs. When the meter fails
// the list is not whole.
func compareValues(a, b []byte, m *mask, options Options) []AttributeChange {
	c := comparison{in: options.meter, effort: options.effort}
	c.value(a, b, m)
	return c.changes
}

// same reports whether two JSON values say the same: white space, the order of members,
// escapes and the way to write a number don't count. When the meter fails it says nothing.
func same(a, b []byte, in *meter) bool {
	before := in.mark()
	defer in.backTo(before)
	c := comparison{in: in, quick: true}
	c.value(a, b, nil)
	return !c.differ
}

func (c *comparison) value(a, b []byte, m *mask) {
	switch {
	case c.in.failed() != nil, c.quick && c.differ, sameText(a, b):
	case a == nil || b == nil:
		c.add(a, b, m)
	case m.hides():
		if !same(a, b, c.in) {
			c.add(a, b, m)
		}
	case startOf(a) != startOf(b) && !(isNumber(a) && isNumber(b)):
		c.add(a, b, m)
	case a[0] == '{' && len(c.path) < maxDepth:
		c.object(a, b, m)
	case a[0] == '[' && len(c.path) < maxDepth:
		c.array(a, b, m)
	case !c.sameScalar(a, b):
		c.add(a, b, m)
	}
}

func isNumber(raw []byte) bool { return raw[0] == '-' || startOf(raw) == '0' }

func (c *comparison) sameScalar(a, b []byte) bool {
	before := c.in.mark()
	defer c.in.backTo(before)
	if c.in.add(int64(len(a)+len(b))) != nil {
		return true
	}
	if isNumber(a) {
		return sameNumber(string(a), string(b))
	}
	x, ok := jsonscan.Unquote(a)
	y, _ := jsonscan.Unquote(b)
	return ok && bytes.Equal(x, y)
}

func (c *comparison) object(a, b []byte, m *mask) {
	taken, made := c.in.mark(), c.made
	before, after := membersOf(a, c.in), membersOf(b, c.in)
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
	c.in.backTo(taken + c.made - made)
}

func (c *comparison) child(s Step, a, b []byte, m *mask) {
	c.step(s, a, b, m.child(s))
}

// step compares two values that a step leads to; m is their own mask.
func (c *comparison) step(s Step, a, b []byte, m *mask) {
	c.path = append(c.path, s)
	c.value(a, b, m)
	c.path = c.path[:len(c.path)-1]
}

func (c *comparison) add(a, b []byte, m *mask) {
	if c.differ = true; c.quick {
		return
	}
	n := changeBytes + stepBytes*int64(len(c.path))
	if m != nil {
		n += int64(len(a) + len(b)) // a copy that is masked
	}
	if c.in.add(n) != nil {
		return
	}
	c.made += n
	before, hidBefore := m.apply(a)
	after, hidAfter := m.apply(b)
	var inside []AttributeChange
	if a != nil && b != nil {
		inside = c.inside(a, b, m)
	}
	c.changes = append(c.changes, AttributeChange{
		Path:      append(Path{}, c.path...),
		Change:    Change{Before: before, After: after},
		Sensitive: hidBefore || hidAfter,
		Inside:    inside,
	})
}

// membersOf returns the members of an object; of those with the same name the last, as
// the clients' reader does.
func membersOf(raw []byte, in *meter) map[string][]byte {
	all := map[string][]byte{}
	_ = jsonscan.Children(raw, func(c jsonscan.Child) error {
		if err := in.add(memberBytes + int64(len(c.Name))); err != nil {
			return err
		}
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
