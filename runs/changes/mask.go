package changes

import (
	"bytes"
	"strings"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// masker hides marked values and those that the sets have.
type masker struct {
	everywhere *secrets // of the whole plan
	here       *secrets // of the resource
	plainest   bool     // whether texts are written with no escape that they don't need
}

// value returns the value with what is sensitive replaced; the value itself if nothing is.
func (m masker) value(value []byte, marks *marks) []byte {
	if len(value) == 0 || marks == nil && m.everywhere.empty() && m.here.empty() {
		return value
	}
	return m.appendMasked(make([]byte, 0, len(value)), value, marks)
}

// appendMasked is value behind what is there already.
func (m masker) appendMasked(dst, value []byte, marks *marks) []byte {
	masked, err := m.append(dst, jsonscan.NewCursor(value, jsonscan.Limits{}), marks)
	if err != nil {
		return append(dst, Masked...)
	}
	return masked
}

// append takes the value at hand. A container with a sensitive name is hidden as a whole.
func (m masker) append(dst []byte, c *jsonscan.Cursor, marks *marks) ([]byte, error) {
	kind := c.Kind()
	if marks.isAll(kind) || kind != '{' && kind != '[' {
		value, err := c.Value()
		if err == nil && kind != 'n' && (marks != nil || m.hides(kind, value)) {
			return append(dst, Masked...), nil
		}
		if m.plainest && kind == '"' && bytes.IndexByte(value, '\\') >= 0 {
			text, _ := jsonscan.Unquote(value)
			return jsonscan.AppendQuote(dst, string(text)), err
		}
		return append(dst, value...), err
	}
	start := len(dst)
	dst = append(dst, kind)
	hidden := false
	err := c.Each(func(child jsonscan.Child) (err error) {
		if hidden {
			return nil
		}
		inner := marks.element(child.Index)
		if child.Index > 0 {
			dst = append(dst, ',')
		}
		if child.Name != nil {
			if hidden = m.hidesText(child.Name); hidden {
				return nil
			}
			inner = marks.member(child.Name)
			dst = append(jsonscan.AppendQuote(dst, string(child.Name)), ':')
		}
		dst, err = m.append(dst, c, inner)
		return err
	})
	if hidden {
		return append(dst[:start], Masked...), err
	}
	return append(dst, kind+2), err // the closing bracket is two behind the opening one
}

func (m masker) hides(kind byte, value []byte) bool {
	switch kind {
	case 't', 'f', 'n':
		return false
	case '"':
		value, _ = jsonscan.Unquote(value)
	}
	return m.hidesText(value)
}

func (m masker) hidesText(text []byte) bool { return m.everywhere.in(text) || m.here.in(text) }

// key is an address or a path as people are shown it: one with a key in brackets may have a secret in it.
func (m masker) key(address string) string {
	if i := strings.IndexByte(address, '['); i >= 0 {
		return address[:i] + m.everywhere.cover(address[i:])
	}
	return address
}
