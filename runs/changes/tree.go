package changes

import "github.com/holdfast/holdfast/internal/jsonscan"

// tree is a value whose parts can be compared with those of another.
type tree struct {
	kind     byte // the first byte of its text; '0' for every number, 0 for what is not there
	text     string
	children map[string]*tree // by name, or by index as a text
}

// parseTree reads a value; what is not there, or damaged, is nil.
func parseTree(value []byte) *tree {
	if len(value) == 0 {
		return nil
	}
	t, err := readTree(jsonscan.NewCursor(value, jsonscan.Limits{}))
	if err != nil {
		return nil
	}
	return t
}

func readTree(c *jsonscan.Cursor) (*tree, error) {
	t := &tree{kind: c.Kind()}
	if t.kind != '{' && t.kind != '[' {
		value, err := c.Value()
		switch t.kind {
		case '"':
			value, _ = jsonscan.Unquote(value)
		case 't', 'f', 'n':
		default:
			t.kind = '0'
		}
		t.text = string(value)
		return t, err
	}
	t.children = map[string]*tree{}
	err := c.Each(func(child jsonscan.Child) error {
		inner, err := readTree(c)
		t.children[keyOf(child)] = inner
		return err
	})
	return t, err
}

func (t *tree) child(name string) *tree {
	if t == nil {
		return nil
	}
	return t.children[name]
}

// isAbsent: null and what is not there are the same.
func (t *tree) isAbsent() bool { return t == nil || t.kind == 'n' }

// isTrue is what marks a part as unknown.
func (t *tree) isTrue() bool { return t != nil && t.kind == 't' }

func (t *tree) isContainer() bool { return t != nil && (t.kind == '{' || t.kind == '[') }
