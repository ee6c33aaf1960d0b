package document

import (
	"iter"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// Scalars returns the top-level attributes that are strings, numbers or booleans and in
// which nothing is sensitive: what may be indexed, such as id, arn and name. A number is
// as the state has it.
func (i *Instance) Scalars() iter.Seq2[string, string] {
	return scalarsOf(i.Attributes, i.marks())
}

// Tags returns the members of the attribute tags in the same way.
func (i *Instance) Tags() iter.Seq2[string, string] {
	tags := memberOf(i.Attributes, "tags")
	marks := i.marks().child(Named("tags"))
	if tags == nil || tags[0] != '{' || marks.hides() {
		return func(func(string, string) bool) {}
	}
	return scalarsOf(tags, marks)
}

// Attribute returns one of the Scalars.
func (i *Instance) Attribute(name string) (string, bool) {
	raw := memberOf(i.Attributes, name)
	if raw == nil {
		return "", false
	}
	if i.marks().child(Named(name)) != nil {
		return "", false
	}
	return scalar(raw)
}

// scalarsOf leaves out the members that the mask hides something of.
func scalarsOf(raw []byte, m *mask) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		open := true
		_ = jsonscan.Children(raw, func(c jsonscan.Child) error {
			if !open || m.of(c) != nil {
				return nil
			}
			if text, ok := scalar(raw[c.Start:c.End]); ok {
				open = yield(string(c.Name), text)
			}
			return nil
		})
	}
}

// scalar returns the text of a string, a number or a boolean.
func scalar(raw []byte) (string, bool) {
	switch startOf(raw) {
	case '"':
		return textOf(raw), true
	case '0', '-', 't':
		return string(raw), true
	}
	return "", false
}
