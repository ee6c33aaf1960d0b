package document

import (
	"bytes"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// How long a sensitive string must be, with its quotes, and how many digits a number must
// have to be looked for elsewhere: shorter ones are found by chance.
const (
	minEcho   = len(`"four"`)
	minDigits = 4
)

// secrets are hidden values that are looked for elsewhere in their instance, as they are
// written: in one state all are by the same writer.
type secrets struct {
	scalars  map[string]bool // strings and numbers
	wrappers map[string]bool // wrapped values with their types, without white space
}

// hideEchoes hides what in the attributes is equal to something that is hidden already.
// Clients mark what the configuration calls sensitive, but not the attribute in which the
// provider hands the same value back, as terraform_data does in output.
func (m *mask) hideEchoes(attributes []byte) {
	spans := m.spans(attributes, 0, nil)
	s := newSecrets()
	s.add(attributes, spans)
	if len(s.wrappers) > 0 || len(s.scalars) > maxCounted || s.standBeside(attributes, spans) {
		m.hideSecrets(attributes, 0, s)
	}
}

func newSecrets() secrets { return secrets{map[string]bool{}, map[string]bool{}} }

// add collects what the spans hide of the attributes.
func (s secrets) add(attributes []byte, spans []span) {
	for _, at := range spans {
		s.collect(attributes[at.start:at.end], 0)
	}
}

// maxCounted is up to how many secrets counting is quicker than going through all values.
const maxCounted = 16

// standBeside reports whether a scalar may stand anywhere but in the spans. A number that
// is part of a longer one counts as well.
func (s secrets) standBeside(attributes []byte, spans []span) bool {
	for text := range s.scalars {
		count := bytes.Count(attributes, []byte(text))
		for _, at := range spans {
			count -= bytes.Count(attributes[at.start:at.end], []byte(text))
		}
		if count > 0 {
			return true
		}
	}
	return false
}

// collect adds a value with all that is in it. The type of a wrapped value is no secret.
func (s secrets) collect(raw []byte, depth int) {
	switch {
	case isTelling(raw):
		s.scalars[string(raw)] = true
	case depth == maxDepth || !isContainer(raw):
	case isWrapper(raw):
		s.wrappers[string(appendCompact(nil, raw))] = true
		s.collect(memberOf(raw, "value"), depth+1)
	default:
		_ = jsonscan.Children(raw, func(c jsonscan.Child) error {
			s.collect(raw[c.Start:c.End], depth+1)
			return nil
		})
	}
}

// has reports whether a value is one of the secrets.
func (s secrets) has(raw []byte) bool {
	if !isContainer(raw) {
		return s.scalars[string(raw)]
	}
	return len(s.wrappers) > 0 && isWrapper(raw) && s.wrappers[string(appendCompact(nil, raw))]
}

func isContainer(raw []byte) bool { return raw[0] == '{' || raw[0] == '[' }

// isTelling reports whether a value is a string or a number that is hardly there by chance.
func isTelling(raw []byte) bool {
	switch startOf(raw) {
	case '"':
		return len(raw) >= minEcho
	case '0', '-':
		digits := 0
		for _, c := range raw {
			if '0' <= c && c <= '9' {
				digits++
			}
		}
		return digits >= minDigits
	}
	return false
}

// isWrapper reports whether an object is what the clients write for a value whose type the
// provider's schema leaves open: the value beside its type.
func isWrapper(raw []byte) bool {
	if raw[0] != '{' {
		return false
	}
	members, value, typed := 0, false, false
	_ = jsonscan.Children(raw, func(c jsonscan.Child) error {
		members++
		value = value || string(c.Name) == "value"
		typed = typed || string(c.Name) == "type" && isType(raw[c.Start:c.End])
		return nil
	})
	return members == 2 && value && typed
}

// isType reports whether a value is a type as the clients write it, "string" or
// ["list","string"], and so none of somebody's own.
func isType(raw []byte) bool {
	if raw[0] == '[' {
		switch textOf(orNull(nth(elementsOf(raw, nil), 0))) {
		case "list", "set", "map", "object", "tuple":
			return true
		}
	}
	switch textOf(raw) {
	case "string", "number", "bool", "dynamic":
		return true
	}
	return false
}

// hideSecrets hides the values that are secrets, and what is too deep to look into.
func (m *mask) hideSecrets(raw []byte, depth int, s secrets) {
	if m.all {
		return
	}
	if s.has(raw) || isContainer(raw) && depth == maxMarks {
		m.all = true
		return
	}
	if !isContainer(raw) {
		return
	}
	_ = jsonscan.Children(raw, func(c jsonscan.Child) error {
		below := m.of(c)
		if below == nil {
			below = &mask{}
		}
		below.hideSecrets(raw[c.Start:c.End], depth+1, s)
		if below.all || below.size() > 0 {
			m.put(stepTo(c), below)
		}
		return nil
	})
}
