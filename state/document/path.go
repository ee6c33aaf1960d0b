package document

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// Step goes from a value to one of its children: by name in an object or a map, by number
// in a list.
type Step struct {
	Name    string
	Index   int
	Indexed bool // Index counts, not Name
}

// Named is the step to a member.
func Named(name string) Step { return Step{Name: name} }

// Nth is the step to an element, counted from zero.
func Nth(index int) Step { return Step{Index: index, Indexed: true} }

// stepTo is the step that leads to a child.
func stepTo(c jsonscan.Child) Step {
	if c.Name == nil {
		return Nth(c.Index)
	}
	return Named(string(c.Name))
}

// MarshalJSON returns a string or a number.
func (s Step) MarshalJSON() ([]byte, error) {
	if s.Indexed {
		return strconv.AppendInt(nil, int64(s.Index), 10), nil
	}
	return jsonscan.AppendQuote(nil, s.Name), nil
}

// UnmarshalJSON is the reverse of MarshalJSON.
func (s *Step) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &s.Name) == nil {
		return nil
	}
	s.Indexed = true
	if json.Unmarshal(raw, &s.Index) != nil || s.Index < 0 {
		return errors.New("a step is a string or a number")
	}
	return nil
}

// Path leads from an instance's attributes to a value in them; empty, it is all of them.
type Path []Step

// String returns the path as an expression would have it: tags["a b"], rule[0].port.
func (p Path) String() string {
	var b strings.Builder
	for n, s := range p {
		switch {
		case s.Indexed:
			b.WriteString("[" + strconv.Itoa(s.Index) + "]")
		case !isIdentifier(s.Name):
			b.WriteString("[" + quoteHCL(s.Name) + "]")
		case n == 0:
			b.WriteString(s.Name)
		default:
			b.WriteString("." + s.Name)
		}
	}
	return b.String()
}

// isIdentifier reports whether a name can stand behind a dot.
func isIdentifier(name string) bool {
	for i, r := range name {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_'
		if !letter && (i == 0 || r != '-' && (r < '0' || r > '9')) {
			return false
		}
	}
	return name != ""
}
