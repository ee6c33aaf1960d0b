package document

import (
	"hash/maphash"
	"strconv"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// kin is what a moved instance keeps besides its content.
type kin struct{ mode, typ, source string }

func (i *Instance) kin() kin {
	return kin{i.Mode, i.Type, i.Provider().Source}
}

// mover finds instances that are the same object under another place.
//
// An object is known by all of its attributes, or else by its id. Either counts only if
// no other instance of its type and provider has the same in either state: two objects
// may share an id, and then nothing tells which of them went where. Nothing is guessed.
type mover struct {
	a, b           *Document
	removed, added map[*Instance]bool // not matched yet
	kins           map[kin]bool       // those of which some were removed, and some added
	moved          map[*Instance]*Instance
	in             *meter
}

// movesOf returns, for each instance that has moved, what it was.
func movesOf(a, b *Document, all []pair, in *meter) map[*Instance]*Instance {
	m := mover{in: in, a: a, b: b, removed: map[*Instance]bool{}, added: map[*Instance]bool{},
		moved: map[*Instance]*Instance{}}
	for _, p := range all {
		if p.after == nil {
			m.removed[p.before] = true
		}
		if p.before == nil {
			m.added[p.after] = true
		}
	}
	if m.kins = sharedKins(m.removed, m.added); len(m.kins) == 0 {
		return nil
	}
	m.match(contentOf(maphash.MakeSeed()), func(a, b *Instance) bool { return sameText(a.Attributes, b.Attributes) })
	m.match((*Instance).realID, m.agree)
	return m.moved
}

func sharedKins(removed, added map[*Instance]bool) map[kin]bool {
	gone, shared := map[kin]bool{}, map[kin]bool{}
	for i := range removed {
		gone[i.kin()] = true
	}
	for i := range added {
		if k := i.kin(); gone[k] {
			shared[k] = true
		}
	}
	return shared
}

// match pairs the instances with the same trait that are alone with it on both sides, and
// that certain agrees to.
func (m *mover) match(trait func(*Instance) (string, bool), certain func(a, b *Instance) bool) {
	before, after := m.alone(m.a, trait), m.alone(m.b, trait)
	for key, a := range before {
		b := after[key]
		if b != nil && a != nil && m.removed[a] && m.added[b] && certain(a, b) {
			m.moved[b] = a
			delete(m.removed, a)
			delete(m.added, b)
		}
	}
}

type traitKey struct {
	kin   kin
	trait string
}

// alone returns the only instance with each trait; nil for a trait that several have.
func (m *mover) alone(d *Document, trait func(*Instance) (string, bool)) map[traitKey]*Instance {
	all := map[traitKey]*Instance{}
	for n := range d.Instances {
		i := &d.Instances[n]
		k := i.kin()
		if !m.kins[k] {
			continue
		}
		if text, ok := trait(i); ok {
			if m.in.add(int64(len(text))) != nil {
				return nil
			}
			key := traitKey{k, text}
			if _, taken := all[key]; taken {
				i = nil
			}
			all[key] = i
		}
	}
	return all
}

// contentOf returns a trait that is a hash of all attributes.
func contentOf(seed maphash.Seed) func(*Instance) (string, bool) {
	var compact []byte
	return func(i *Instance) (string, bool) {
		compact = appendCompact(compact[:0], i.Attributes)
		hash := maphash.Bytes(seed, compact)
		return strconv.FormatUint(hash, 16), hasValue(i.Attributes)
	}
}

// hasValue reports whether any attribute has a value, so that there is something to know
// the object by.
func hasValue(attributes []byte) bool {
	found := false
	_ = jsonscan.Children(attributes, func(c jsonscan.Child) error {
		found = found || attributes[c.Start] != 'n'
		return nil
	})
	return found
}

// realID returns the object's id, unless it is one that providers give to what has none.
func (i *Instance) realID() (string, bool) {
	raw := memberOf(i.Attributes, "id")
	switch text := string(raw); text {
	case "", "null", `""`, `"none"`, `"-"`:
		return "", false
	default:
		return text, isNumber(raw) || raw[0] == '"'
	}
}

// agree reports whether nothing contradicts that two instances with the same id are one
// object: an id need not be unique beyond an account or a region, these are.
func (m *mover) agree(a, b *Instance) bool {
	for _, name := range []string{"arn", "self_link"} {
		if !same(memberOf(a.Attributes, name), memberOf(b.Attributes, name), m.in) {
			return false
		}
	}
	return true
}
