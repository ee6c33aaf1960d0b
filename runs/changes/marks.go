package changes

import (
	"bytes"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// marks says what of a value is sensitive, in the shape that the tools give it: true for a value
// that is, with all that is in it, and objects and arrays on the way there.
type marks struct {
	all     bool
	names   map[string]*marks
	indexes []*marks // nil for an element without marks
}

// parseMarks reads marks; nil says that nothing is marked.
func parseMarks(text []byte) *marks {
	if !bytes.Contains(text, []byte("true")) {
		return nil
	}
	c := jsonscan.NewCursor(text, jsonscan.Limits{})
	return readMarks(c)
}

func readMarks(c *jsonscan.Cursor) *marks {
	var m marks
	isObject := c.Kind() == '{'
	switch c.Kind() {
	case '{', '[':
	default:
		value, err := c.Value()
		if err != nil || string(value) == "true" {
			return &marks{all: true}
		}
		return nil
	}
	found := false
	err := c.Each(func(child jsonscan.Child) error {
		inner := readMarks(c)
		found = found || inner != nil
		switch {
		case !isObject:
			m.indexes = append(m.indexes, inner)
		case inner != nil:
			m.put(child.Name, inner)
		}
		return nil
	})
	if err != nil {
		return &marks{all: true}
	}
	if !found {
		return nil
	}
	return &m
}

func (m *marks) put(name []byte, inner *marks) {
	if m.names == nil {
		m.names = map[string]*marks{}
	}
	m.names[string(name)] = inner
}

// union is marked where either is.
func union(a, b *marks) *marks {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.all || b.all:
		return &marks{all: true}
	}
	both := &marks{}
	if a.names != nil || b.names != nil {
		both.names = map[string]*marks{}
	}
	for name, m := range a.names {
		both.names[name] = m
	}
	for name, m := range b.names {
		both.names[name] = union(both.names[name], m)
	}
	for i := range max(len(a.indexes), len(b.indexes)) {
		both.indexes = append(both.indexes, union(a.element(i), b.element(i)))
	}
	return both
}

// member is what is marked of a member. Where the marks are those of an array, they can't be
// followed, and all is.
func (m *marks) member(name []byte) *marks {
	if m == nil || m.all || m.names == nil && m.indexes != nil {
		return m.everything()
	}
	return m.names[string(name)]
}

func (m *marks) element(i int) *marks {
	if m == nil || m.all || m.indexes == nil && m.names != nil {
		return m.everything()
	}
	if i >= len(m.indexes) {
		return nil
	}
	return m.indexes[i]
}

func (m *marks) everything() *marks {
	if m == nil {
		return nil
	}
	return &marks{all: true}
}

// isAll: a scalar whose marks are of a container is marked as well.
func (m *marks) isAll(kind byte) bool {
	return m != nil && (m.all || kind != '{' && kind != '[')
}

// collect calls add for each text and number that is marked in the value at hand, and for the
// names in what is marked.
func (m *marks) collect(c *jsonscan.Cursor, add func(text string)) error {
	if m == nil {
		_, err := c.Value()
		return err
	}
	switch c.Kind() {
	case '{', '[':
		isObject := c.Kind() == '{'
		return c.Each(func(child jsonscan.Child) error {
			if !isObject {
				return m.element(child.Index).collect(c, add)
			}
			if m.all {
				add(string(child.Name))
			}
			return m.member(child.Name).collect(c, add)
		})
	}
	kind := c.Kind()
	value, err := c.Value()
	if err != nil || !m.isAll(kind) {
		return err
	}
	switch {
	case kind == '"':
		text, _ := jsonscan.Unquote(value)
		add(string(text))
	case kind != 't' && kind != 'f' && kind != 'n':
		add(string(value))
	}
	return nil
}

// collectFrom is collect for a value that is at hand as text.
func (m *marks) collectFrom(value []byte, add func(text string)) {
	if m != nil && len(value) > 0 {
		// The value came out of a decoder, so it has no errors.
		_ = m.collect(jsonscan.NewCursor(value, jsonscan.Limits{}), add)
	}
}
