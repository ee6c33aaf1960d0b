package document

import (
	"bytes"
	"hash/maphash"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// none stands for the place of an element in a list that lacks it.
const none = -1

// array compares two lists. What they have in common is found wherever it is, so that an element
// that was removed is one change and not one of each element behind it.
func (c *comparison) array(a, b []byte, m *mask) {
	taken, made := c.in.mark(), c.made
	defer func() { c.in.backTo(taken + c.made - made) }()
	before, after := elementsOf(a, c.in), elementsOf(b, c.in)
	switch {
	case c.in.failed() != nil:
	case c.quick:
		c.differ = c.differ || len(before) != len(after)
		for i := range min(len(before), len(after)) {
			c.child(Nth(i), before[i], after[i], nil)
		}
	case c.inOrder(a, b, m):
		for _, p := range c.pairElements(before, after, m) {
			c.element(p, before, after, m)
		}
	default: // of several ways to align two lists, the same one is found from both sides
		for _, p := range c.pairElements(after, before, m) {
			c.element(match{p.after, p.before}, before, after, m)
		}
	}
}

// inOrder reports whether the first list is the one to align from, by what is shown of the two:
// which of the hidden values is the larger one is not to be told either.
func (c *comparison) inOrder(a, b []byte, m *mask) bool {
	if m == nil {
		return bytes.Compare(a, b) <= 0
	}
	taken := c.in.mark()
	defer func() { c.in.backTo(taken) }()
	if c.in.add(int64(len(a)+len(b))) != nil {
		return true
	}
	before, _ := m.apply(a)
	after, _ := m.apply(b)
	return bytes.Compare(before, after) <= 0
}

// element compares what became of one element. Its step counts in the list after, or for one that
// is gone in the list before; what is hidden at either place is hidden.
func (c *comparison) element(p match, before, after [][]byte, m *mask) {
	switch {
	case p.after == none:
		c.step(Nth(p.before), before[p.before], nil, m.child(Nth(p.before)))
	case p.before == none:
		c.step(Nth(p.after), nil, after[p.after], m.child(Nth(p.after)))
	default:
		hidden := m.child(Nth(p.after))
		if p.before != p.after {
			hidden = hidden.merge(m.child(Nth(p.before)))
		}
		c.step(Nth(p.after), before[p.before], after[p.after], hidden)
	}
}

// pairElements says which element of a list became which, or none, in order.
func (c *comparison) pairElements(a, b [][]byte, m *mask) []match {
	if c.in.add(pairedBytes*int64(len(a)+len(b))) != nil {
		return nil
	}
	x, y, identified := c.keysOf(a, b, m)
	all := make([]match, 0, max(len(a), len(b)))
	at := match{}
	for _, next := range append(align(x, y, c.effort, c.in), match{len(a), len(b)}) {
		all = appendGap(all, at, next, identified)
		if next.before < len(a) {
			all = append(all, next)
		}
		at = match{next.before + 1, next.after + 1}
	}
	return all
}

// appendGap appends what lies between two matches. Elements without a name are taken for changed
// ones, one by one, as far as there are as many; those that have one are, where as many came as
// went.
func appendGap(all []match, from, to match, identified bool) []match {
	gone, came := to.before-from.before, to.after-from.after
	paired := min(gone, came)
	if identified && gone != came {
		paired = 0
	}
	for i := range paired {
		all = append(all, match{from.before + i, from.after + i})
	}
	for i := paired; i < gone; i++ {
		all = append(all, match{from.before + i, none})
	}
	for i := paired; i < came; i++ {
		all = append(all, match{none, from.after + i})
	}
	return all
}

// keysOf returns by what the elements of two lists are known: their identity, if all have one,
// or else all that is shown of them. What is hidden doesn't count: else which elements are found
// to be equal would tell of it.
func (c *comparison) keysOf(a, b [][]byte, m *mask) (x, y []uint64, identified bool) {
	seed := maphash.MakeSeed()
	for _, name := range identityNames(a, b) {
		x = identities(a, name, m, seed)
		if y = identities(b, name, m, seed); x != nil && y != nil {
			return x, y, true
		}
	}
	return contents(a, m, seed), contents(b, m, seed), false
}

// identityNames are the members by which people and providers tell objects of a list apart, as far
// as the first object of the lists has them.
func identityNames(a, b [][]byte) (found []string) {
	one := nth(a, 0)
	if one == nil {
		one = nth(b, 0)
	}
	if one == nil || one[0] != '{' {
		return nil
	}
	for _, name := range [...]string{"id", "Id", "arn", "Sid", "key", "Key", "name", "Name"} {
		if memberOf(one, name) != nil {
			found = append(found, name)
		}
	}
	return found
}

// identities returns the keys of a list's elements; nil unless each has one that is its own, and
// that may be shown.
func identities(all [][]byte, name string, m *mask, seed maphash.Seed) []uint64 {
	keys, seen := make([]uint64, len(all)), make(map[uint64]bool, len(all))
	for i, raw := range all {
		hidden := m.child(Nth(i))
		if raw[0] != '{' || hidden.hides() || hidden.child(Named(name)) != nil {
			return nil
		}
		value := memberOf(raw, name)
		if value == nil || value[0] != '"' && !isNumber(value) || len(value) == len(`""`) && value[0] == '"' {
			return nil
		}
		keys[i] = maphash.Bytes(seed, value)
		if seen[keys[i]] {
			return nil
		}
		seen[keys[i]] = true
	}
	return keys
}

// contents returns a key for each element of a list: the same for what is written alike.
func contents(all [][]byte, m *mask, seed maphash.Seed) []uint64 {
	keys := make([]uint64, len(all))
	var h maphash.Hash
	h.SetSeed(seed)
	for i, raw := range all {
		shown, _ := m.child(Nth(i)).apply(raw)
		h.Reset()
		for at := gap(shown, 0); at < len(shown); {
			end := token(shown, at)
			_, _ = h.Write(shown[at:end]) // never fails
			at = gap(shown, end)
		}
		keys[i] = h.Sum64()
	}
	return keys
}

// elementsOf returns the elements of a list.
func elementsOf(raw []byte, in *meter) [][]byte {
	var all [][]byte
	_ = jsonscan.Children(raw, func(c jsonscan.Child) error {
		if err := in.add(elementBytes); err != nil {
			return err
		}
		all = append(all, raw[c.Start:c.End:c.End])
		return nil
	})
	return all
}

func nth(all [][]byte, i int) []byte {
	if i < len(all) {
		return all[i]
	}
	return nil
}
