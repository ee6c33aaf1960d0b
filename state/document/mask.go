package document

import (
	"cmp"
	"maps"
	"slices"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// Masked stands where a sensitive value was, as JSON.
const Masked = `"(sensitive value)"`

// mask says which places in a value are sensitive. The nil mask says that none is.
type mask struct {
	all      bool // the value with all that is in it
	members  map[string]*mask
	elements map[int]*mask
}

func (m *mask) hides() bool { return m != nil && m.all }

func (m *mask) child(s Step) *mask {
	switch {
	case m == nil:
		return nil
	case s.Indexed:
		return m.elements[s.Index]
	}
	return m.members[s.Name]
}

// of is child for a child that was just read.
func (m *mask) of(c jsonscan.Child) *mask {
	switch {
	case m == nil:
		return nil
	case c.Name == nil:
		return m.elements[c.Index]
	}
	return m.members[string(c.Name)]
}

// size is how many children have places in them.
func (m *mask) size() int { return len(m.members) + len(m.elements) }

// at returns the mask of the value that the steps lead to.
func (m *mask) at(steps []Step) *mask {
	for _, s := range steps {
		next := m.child(s)
		if next == nil {
			next = &mask{}
			m.put(s, next)
		}
		m = next
	}
	return m
}

func (m *mask) put(s Step, below *mask) {
	if m.members == nil {
		m.members, m.elements = map[string]*mask{}, map[int]*mask{}
	}
	if s.Indexed {
		m.elements[s.Index] = below
	} else {
		m.members[s.Name] = below
	}
}

// settle widens each mark that leads nowhere in the attributes to the whole attribute
// that it starts at, and reports whether there was none. So a list that turned into
// something else, and a value that the format wraps, stay hidden. A mark of everything
// becomes one of each attribute, so that the attributes stay an object.
func (m *mask) settle(attributes []byte) bool {
	everything, settled := m.all, true
	m.all = false
	_ = jsonscan.Children(attributes, func(c jsonscan.Child) error {
		top := m.of(c)
		if everything {
			top = m.at([]Step{stepTo(c)})
			top.all = true
		}
		if top != nil && !top.covers(attributes[c.Start:c.End]) {
			top.all = true
			settled = false
		}
		return nil
	})
	return settled
}

// beneath reports whether a place of the mask lies within one of another mask.
func (m *mask) beneath(other *mask) bool {
	if other == nil || m.all {
		return false
	}
	if other.all {
		return true
	}
	for name, below := range m.members {
		if below.beneath(other.members[name]) {
			return true
		}
	}
	for index, below := range m.elements {
		if below.beneath(other.elements[index]) {
			return true
		}
	}
	return false
}

// maskOfAll hides every attribute.
func maskOfAll(attributes []byte) *mask {
	m := &mask{all: true}
	m.settle(attributes)
	return m
}

// covers reports whether all places of the mask are in the value.
func (m *mask) covers(raw []byte) bool {
	if m.all || m.size() == 0 {
		return true
	}
	found := 0
	_ = jsonscan.Children(raw, func(c jsonscan.Child) error {
		if below := m.of(c); below != nil && below.covers(raw[c.Start:c.End]) {
			found++
		}
		return nil
	})
	return found == m.size()
}

// merge adds the places of another mask.
func (m *mask) merge(other *mask) *mask {
	if m == nil || other == nil {
		return cmp.Or(m, other)
	}
	return &mask{
		all:      m.all || other.all,
		members:  mergeAll(m.members, other.members),
		elements: mergeAll(m.elements, other.elements),
	}
}

func mergeAll[K comparable](a, b map[K]*mask) map[K]*mask {
	both := maps.Clone(a)
	for key, below := range b {
		if both == nil {
			both = map[K]*mask{}
		}
		both[key] = below.merge(both[key])
	}
	return both
}

// span is a piece of a text, and what to put in its place.
type span struct {
	start, end int
	text       string
}

// spans appends the pieces of raw that the mask hides. raw stands at base in the text that
// the spans are of.
func (m *mask) spans(raw []byte, base int, to []span) []span {
	if m == nil {
		return to
	}
	if m.all || raw[0] != '{' && raw[0] != '[' {
		return append(to, span{base, base + len(raw), Masked})
	}
	_ = jsonscan.Children(raw, func(c jsonscan.Child) error {
		to = m.of(c).spans(raw[c.Start:c.End], base+c.Start, to)
		return nil
	})
	return to
}

// apply returns the value with what is sensitive in it masked, and whether anything was.
func (m *mask) apply(raw []byte) ([]byte, bool) {
	if m == nil || raw == nil {
		return raw, false
	}
	spans := m.spans(raw, 0, nil)
	if len(spans) == 0 {
		return raw, false
	}
	size := len(raw)
	for _, s := range spans {
		size += len(s.text) - (s.end - s.start)
	}
	out := make([]byte, 0, size)
	done := 0
	for _, s := range spans {
		out = append(append(out, raw[done:s.start]...), s.text...)
		done = s.end
	}
	return append(out, raw[done:]...), true
}

// names returns the attributes in which something is sensitive, in order.
func (m *mask) names() []string {
	return slices.Sorted(maps.Keys(m.members))
}
