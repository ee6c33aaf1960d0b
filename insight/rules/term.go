package rules

import (
	"encoding/json"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// How many texts, and how long ones, are kept to be used again: names of attributes, and values that many resources
// have.
const (
	maxShared      = 4096
	maxSharedBytes = 40
)

// terms makes values as rules see them of JSON. Equal short texts share a term, which nothing changes.
type terms struct{ texts map[string]*ast.Term }

func newTerms() *terms { return &terms{map[string]*ast.Term{}} }

// of is a value; an empty object for none.
func (t *terms) of(raw json.RawMessage) (*ast.Term, error) {
	if len(raw) == 0 {
		return ast.InternedEmptyObject, nil
	}
	c := jsonscan.NewCursor(raw, jsonscan.Limits{})
	term, err := t.read(c)
	if err == nil {
		err = c.Close()
	}
	return term, err
}

// read makes a term of the value at hand.
func (t *terms) read(c *jsonscan.Cursor) (*ast.Term, error) {
	switch c.Kind() {
	case '{':
		return t.object(c)
	case '[':
		return t.list(c)
	}
	value, err := c.Value()
	if err != nil {
		return nil, err
	}
	switch value[0] {
	case '"':
		text, _ := jsonscan.Unquote(value)
		return t.text(text), nil
	case 't', 'f':
		return ast.InternedTerm(value[0] == 't'), nil
	case 'n':
		return ast.InternedNullTerm, nil
	}
	if term := ast.InternedIntNumberTermFromString(string(value)); term != nil {
		return term, nil
	}
	number, err := ast.NumberChecked(string(value))
	return ast.NewTerm(number), err
}

func (t *terms) object(c *jsonscan.Cursor) (*ast.Term, error) {
	var members [][2]*ast.Term
	err := c.Each(func(child jsonscan.Child) error {
		if members == nil {
			members = make([][2]*ast.Term, 0, 8)
		}
		name := t.text(child.Name)
		value, err := t.read(c)
		members = append(members, [2]*ast.Term{name, value})
		return err
	})
	if err != nil || members == nil {
		return ast.InternedEmptyObject, err
	}
	return ast.ObjectTerm(members...), nil
}

func (t *terms) list(c *jsonscan.Cursor) (*ast.Term, error) {
	var elements []*ast.Term
	err := c.Each(func(jsonscan.Child) error {
		value, err := t.read(c)
		elements = append(elements, value)
		return err
	})
	if err != nil || elements == nil {
		return ast.InternedEmptyArray, err
	}
	return ast.ArrayTerm(slices.Clip(elements)...), nil // an array that is added to must not grow into another's room
}

func (t *terms) text(text []byte) *ast.Term {
	if term, ok := t.texts[string(text)]; ok {
		return term
	}
	term := ast.StringTerm(string(text))
	if len(text) <= maxSharedBytes && len(t.texts) < maxShared {
		t.texts[string(text)] = term
	}
	return term
}
