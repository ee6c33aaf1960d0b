package jsonscan

import "bytes"

// Cursor reads a JSON value in one pass: the caller goes into the
// containers that it knows with [Cursor.Each], and takes or leaves the values in them.
//
// The grammar and the limits are those of [Object]. What was learned counts only if
// [Cursor.Close] returns nil in the end. Errors are a [*SyntaxError], after which the Cursor
// is of no more use.
type Cursor struct {
	s scanner
	i int // where the value at hand starts; behind it once it was taken
}

// NewCursor stands at the value that data is. A container beyond the limits is a [*LimitError],
// after which the Cursor is of no more use either.
func NewCursor(data []byte, limits Limits) *Cursor {
	c := &Cursor{s: newScanner(data, limits)}
	c.i = c.s.space(0)
	return c
}

// Kind returns the first byte of the value at hand, and zero if there is none.
func (c *Cursor) Kind() byte {
	if c.i >= len(c.s.data) {
		return 0
	}
	return c.s.data[c.i]
}

// Value takes the value at hand with all that is in it, and returns its text.
func (c *Cursor) Value() ([]byte, error) {
	start := c.i
	if end := c.s.value(start); end >= 0 {
		c.i = end
		return c.s.data[start:end:end], nil
	}
	return nil, c.s.err
}

// TakeLike takes the value at hand if it begins as text does, and reports whether. text is a whole object or array that
// a Cursor with these limits has taken before, as deep as this one is: then the value is that and no more, since
// what follows its last bracket is not part of it. It counts as no container.
func (c *Cursor) TakeLike(text []byte) bool {
	if len(text) < len("{}") || text[0] != '{' && text[0] != '[' ||
		!bytes.HasPrefix(c.s.data[min(c.i, len(c.s.data)):], text) {
		return false
	}
	c.i += len(text)
	return true
}

// At returns the offset of the value at hand, or of what is behind it once it was taken.
func (c *Cursor) At() int { return c.i }

// Each takes the value at hand and calls visit for each of its children, when the Cursor
// stands at it; a scalar has none. visit takes the child with Value or Each, or else it is
// passed over. An error of visit ends Each and is returned as it is.
func (c *Cursor) Each(visit func(Child) error) error {
	switch c.Kind() {
	case '{':
		return c.each(object, '}', visit)
	case '[':
		return c.each(array, ']', visit)
	}
	_, err := c.Value()
	return err
}

// Close checks that nothing but white space follows the value.
func (c *Cursor) Close() error {
	if i := c.s.space(c.i); i < len(c.s.data) {
		c.s.fail(i, "data after the value")
	}
	return c.s.err
}

func (c *Cursor) each(kind uint64, closing byte, visit func(Child) error) error {
	if !c.s.push(c.i, kind) {
		return c.s.err
	}
	c.i = c.s.space(c.i + 1)
	more := c.Kind() != closing
	for n := 0; more; n++ {
		child, ok := c.child(n, kind)
		if !ok {
			return c.s.err
		}
		if err := visit(child); err != nil {
			return err
		}
		if c.i == child.Start {
			if _, err := c.Value(); err != nil {
				return err
			}
		}
		c.i = c.s.space(c.i)
		if more = c.Kind() == ','; more {
			c.i = c.s.space(c.i + 1)
		}
	}
	if c.i >= len(c.s.data) {
		c.s.fail(c.i, endOfData)
		return c.s.err
	}
	if c.Kind() != closing {
		c.s.fail(c.i, c.s.noComma())
		return c.s.err
	}
	c.s.pop()
	c.i++
	return nil
}

// child reads up to the value of a child.
func (c *Cursor) child(n int, kind uint64) (Child, bool) {
	child := Child{Index: n}
	if kind == object {
		end := c.s.name(c.i)
		if end < 0 {
			return child, false
		}
		child.Name, _ = Unquote(c.s.data[c.i:end])
		value := c.s.colon(end)
		if value < 0 {
			return child, false
		}
		c.i = value
	}
	child.Start = c.i
	return child, true
}
