package document

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// maxMarks is how many steps a path may have before it counts as odd.
const maxMarks = 32

// pathStep is a step as the clients write it. The value of a get_attr is a name; that of
// an index is an object of a value and its type.
type pathStep struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// marks returns what is sensitive in the instance's attributes; nil if nothing is.
func (i *Instance) marks() *mask {
	raw := i.fields[FieldSensitive]
	if raw == nil {
		return nil
	}
	m, _ := readMarks(raw)
	if i.fields[FieldFlat] != nil {
		m.all = true // no path leads to a flattened name
	}
	m.settle(i.Attributes)
	m.hideEchoes(i.Attributes)
	return m
}

// readMarks reads sensitive_attributes. A path that this code can't follow hides all of
// the attribute that it starts at, and one that starts at none hides all attributes; ok is
// false if there is such a path.
func readMarks(raw []byte) (m *mask, ok bool) {
	m, ok = &mask{}, true
	var paths [][]pathStep
	if json.Unmarshal(raw, &paths) != nil {
		m.all = true
		return m, false
	}
	for _, path := range paths {
		known := m.add(path)
		ok = ok && known
	}
	return m, ok
}

// add marks what a path leads to, and returns false if it led less far than it should.
func (m *mask) add(path []pathStep) bool {
	steps := make([]Step, 0, len(path))
	for n, raw := range path {
		step, ok := raw.step()
		if !ok || n == maxMarks || n == 0 && raw.Type != "get_attr" {
			m.at(steps[:min(n, 1)]).all = true
			return false
		}
		steps = append(steps, step)
	}
	m.at(steps).all = true
	return true
}

// step reads a step; false for one that is neither a name nor a number, such as an
// element of a set, which the clients write as the element itself.
func (s pathStep) step() (Step, bool) {
	if s.Type == "get_attr" {
		return named(s.Value)
	}
	var key struct {
		Value json.RawMessage `json:"value"`
		Type  json.RawMessage `json:"type"`
	}
	if s.Type != "index" || json.Unmarshal(s.Value, &key) != nil {
		return Step{}, false
	}
	switch string(key.Type) {
	case `"string"`:
		return named(key.Value)
	case `"number"`:
		index, err := strconv.Atoi(string(key.Value))
		return Nth(index), err == nil && index >= 0
	}
	return Step{}, false
}

func named(raw json.RawMessage) (Step, bool) {
	var name *string
	if json.Unmarshal(raw, &name) != nil || name == nil {
		return Step{}, false
	}
	return Named(*name), true
}

// shownMarks returns sensitive_attributes for who must not see the values. A path that
// can't be followed may itself hold a value, that of a set's element, and is cut to the
// attributes that it hides.
func (i *Instance) shownMarks() []byte {
	raw := i.fields[FieldSensitive]
	if raw == nil {
		return nil
	}
	if raw[0] != '[' {
		return []byte("[[]]") // the path of everything
	}
	out := []byte{'['}
	every, _ := readMarks(raw)
	every.settle(i.Attributes)
	_ = jsonscan.Children(raw, func(c jsonscan.Child) error {
		path := raw[c.Start:c.End]
		m, ok := readMarks(slices.Concat([]byte{'['}, path, []byte{']'}))
		settled := m.settle(i.Attributes)
		switch {
		case !ok || !settled:
			out = appendNames(out, m)
		case !m.beneath(every): // what is, leads into a value that is no longer there
			out = append(append(out, path...), ',')
		}
		return nil
	})
	return append(bytes.TrimSuffix(out, []byte{','}), ']')
}

// appendNames appends the paths of the attributes in which the mask hides something.
func appendNames(out []byte, m *mask) []byte {
	for _, name := range m.names() {
		out = append(out, `[{"type":"get_attr","value":`...)
		out = append(jsonscan.AppendQuote(out, name), `}],`...)
	}
	return out
}
