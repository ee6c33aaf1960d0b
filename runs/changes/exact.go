package changes

import (
	"bytes"
	"strings"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// exact is a change with its values as the tool gave them.
type exact struct {
	drift                        bool // it has happened already
	address, previous, deposed   string
	mode, typ, name, provider    string
	reason, module               string
	actions                      []string
	before, after, unknown       []byte
	beforeMarks, afterMarks      []byte
	replacePaths                 []byte
	importing                    []byte
	beforeIdentity, afterIdentiy []byte
}

// parseExact reads a change of a resource. The slices are those of value.
func parseExact(value []byte) (*exact, error) {
	x := &exact{}
	c := jsonscan.NewCursor(value, jsonscan.Limits{})
	err := c.Each(func(child jsonscan.Child) error {
		name := string(child.Name)
		if name == "change" {
			return x.readChange(c)
		}
		text, err := c.Value()
		if into := x.text(name); into != nil {
			*into = unquoted(text)
		}
		return err
	})
	if err == nil {
		err = c.Close()
	}
	if err == nil && (x.address == "" || len(x.actions) == 0) {
		err = invalid("a change has no address, or no actions")
	}
	return x, err
}

// text is where a text of a change of this name belongs; nil for another one.
func (x *exact) text(name string) *string {
	switch name {
	case "address":
		return &x.address
	case "previous_address":
		return &x.previous
	case "module_address":
		return &x.module
	case "deposed":
		return &x.deposed
	case "mode":
		return &x.mode
	case "type":
		return &x.typ
	case "name":
		return &x.name
	case "provider_name":
		return &x.provider
	case "action_reason":
		return &x.reason
	}
	return nil
}

// parseChange reads what outputs have as well.
func (x *exact) parseChange(value []byte) error {
	c := jsonscan.NewCursor(value, jsonscan.Limits{})
	if err := x.readChange(c); err != nil {
		return err
	}
	return c.Close()
}

func (x *exact) readChange(c *jsonscan.Cursor) error {
	return c.Each(func(child jsonscan.Child) error {
		text, err := c.Value()
		if err != nil || string(text) == "null" {
			return err
		}
		switch string(child.Name) {
		case "actions":
			x.actions = texts(text)
		case "before":
			x.before = text
		case "after":
			x.after = text
		case "after_unknown":
			x.unknown = text
		case "before_sensitive":
			x.beforeMarks = text
		case "after_sensitive":
			x.afterMarks = text
		case "replace_paths":
			x.replacePaths = text
		case "importing":
			x.importing = text
		case "before_identity":
			x.beforeIdentity = text
		case "after_identity":
			x.afterIdentiy = text
		}
		return nil
	})
}

// does reports whether the change is more than an entry: no tool lists what neither does
// anything, nor moves, nor is imported.
func (x *exact) does() bool {
	return len(x.actions) != 1 || x.actions[0] != NoOp || x.previous != "" || x.importing != nil
}

func (x *exact) marks() *marks {
	if bytes.Equal(x.beforeMarks, x.afterMarks) {
		return parseMarks(x.afterMarks)
	}
	return union(parseMarks(x.beforeMarks), parseMarks(x.afterMarks))
}

// collect calls add for each sensitive text of the change.
func (x *exact) collect(add func(text string)) { x.collectMarked(x.marks(), add) }

func (x *exact) collectMarked(marks *marks, add func(text string)) {
	marks.collectFrom(x.before, add)
	marks.collectFrom(x.after, add)
}

// place is what a change is of. A plan has one for each place.
func (x *exact) place() place { return place{x.drift, x.mode, x.address, x.deposed} }

type place struct {
	drift                  bool
	mode, address, deposed string
}

// size is how many bytes the values have.
func (x *exact) size() int64 {
	return int64(len(x.before) + len(x.after) + len(x.unknown) + len(x.beforeMarks) + len(x.afterMarks) +
		len(x.replacePaths) + len(x.importing) + len(x.beforeIdentity) + len(x.afterIdentiy))
}

// keep copies the values out of the decoder's memory.
func (x *exact) keep() {
	for _, part := range x.parts() {
		*part = append([]byte(nil), *part...)
	}
}

// drop forgets the values.
func (x *exact) drop() {
	for _, part := range x.parts() {
		*part = nil
	}
}

func (x *exact) parts() []*[]byte {
	return []*[]byte{&x.before, &x.after, &x.unknown, &x.beforeMarks, &x.afterMarks, &x.replacePaths, &x.importing,
		&x.beforeIdentity, &x.afterIdentiy}
}

// unquoted is a JSON string's text; what is none is taken for an empty one.
func unquoted(text []byte) string {
	plain, ok := jsonscan.Unquote(text)
	if !ok {
		return ""
	}
	return string(plain)
}

// texts are the strings of an array.
func texts(array []byte) (list []string) {
	if len(array) == 0 || array[0] != '[' {
		return nil
	}
	_ = jsonscan.Children(array, func(child jsonscan.Child) error {
		list = append(list, unquoted(array[child.Start:child.End]))
		return nil
	})
	return list
}

// path writes a path as the tools do in messages: a.b[0]["c d"].
func path(array []byte) string {
	var b strings.Builder
	_ = jsonscan.Children(array, func(child jsonscan.Child) error {
		text := array[child.Start:child.End]
		name := unquoted(text)
		switch {
		case text[0] != '"':
			b.WriteString("[" + string(text) + "]")
		case isIdentifier(name) && b.Len() > 0:
			b.WriteString("." + name)
		case isIdentifier(name):
			b.WriteString(name)
		default:
			b.WriteString("[" + string(text) + "]")
		}
		return nil
	})
	return b.String()
}

func isIdentifier(name string) bool {
	for i, c := range name {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != ""
}
