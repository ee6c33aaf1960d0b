package document

import "github.com/holdfast/holdfast/internal/jsonscan"

// maxNested is how deep strings of JSON may lie in one another to be compared inside.
const maxNested = 4

// inside compares two strings that hold JSON, such as a policy. It returns nil where one doesn't,
// or when they say the same in another way of writing: what a string says is its text, so that
// they differ all the same.
func (c *comparison) inside(a, b []byte, m *mask) []AttributeChange {
	if m != nil || c.nested == maxNested || !mayHoldJSON(a) || !mayHoldJSON(b) {
		return nil
	}
	before := c.in.mark()
	size := int64(len(a) + len(b)) // of the copies that the changes keep
	if c.in.add(size) != nil {
		return nil
	}
	x, y := heldJSON(a), heldJSON(b)
	if x == nil || y == nil || x[0] != y[0] {
		c.in.backTo(before)
		return nil
	}
	held := comparison{in: c.in, effort: c.effort, nested: c.nested + 1}
	held.value(x, y, nil)
	if len(held.changes) == 0 {
		c.in.backTo(before)
		return nil
	}
	c.made += size + held.made
	return held.changes
}

// mayHoldJSON reports whether a JSON value is a string whose text may be an object or a list.
func mayHoldJSON(raw []byte) bool {
	if len(raw) < len(`"{}"`) || raw[0] != '"' {
		return false
	}
	switch raw[1] {
	case '{', '[', ' ', '\\': // white space may be escaped
		return true
	}
	return false
}

// heldJSON returns the object or the list in a string, without the white space around it; nil if
// it holds none.
func heldJSON(raw []byte) []byte {
	text, ok := jsonscan.Unquote(raw)
	if !ok {
		return nil
	}
	c := jsonscan.NewCursor(text, jsonscan.Limits{Depth: maxDepth})
	if kind := c.Kind(); kind != '{' && kind != '[' {
		return nil
	}
	value, err := c.Value()
	if err != nil || c.Close() != nil {
		return nil
	}
	return value
}

// sameInside reports whether two strings hold JSON that says the same. When the meter fails it
// says nothing.
func sameInside(a, b []byte, in *meter) bool {
	if !mayHoldJSON(a) || !mayHoldJSON(b) {
		return false
	}
	before := in.mark()
	defer in.backTo(before)
	if in.add(int64(len(a)+len(b))) != nil {
		return false
	}
	x, y := heldJSON(a), heldJSON(b)
	return x != nil && y != nil && same(x, y, in)
}
