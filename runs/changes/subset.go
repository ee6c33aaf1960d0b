package changes

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// SubsetOf reports whether everything that p does is something that approved does too, and if
// not, in a sentence, the first thing that isn't. It is for a plan that is made after a part of
// approved was applied: a value that approved did not know yet may be known by now, anything else
// must be equal. A plan whose values a limit has cut is no subset, and has none.
func (p *Plan) SubsetOf(approved *Plan) (bool, string) {
	if p.Cut || approved.Cut {
		return false, "a plan is too large to be compared"
	}
	known := map[place]*exact{}
	for i := range approved.hidden.exact {
		x := &approved.hidden.exact[i]
		known[x.place()] = x
	}
	for i := range p.hidden.exact {
		x := &p.hidden.exact[i]
		other := known[x.place()]
		if other == nil {
			return false, fmt.Sprintf("%s was not to be changed", x.address)
		}
		if what := x.beyond(other); what != "" {
			return false, fmt.Sprintf("%s has %s", x.address, what)
		}
	}
	return true, ""
}

// beyond says in which way a change goes beyond one that was approved; empty if in none.
func (x *exact) beyond(approved *exact) string {
	switch {
	case !slices.Equal(x.actions, approved.actions):
		return "another action"
	case x.typ != approved.typ || x.provider != approved.provider:
		return "another type or provider"
	case x.previous != "" && x.previous != approved.previous:
		return "another address to move from"
	case !equal(x.importing, approved.importing):
		return "another import"
	case !equal(x.before, approved.before) || !equal(x.beforeIdentity, approved.beforeIdentity):
		return "another value before"
	case !fits(parseTree(x.after), parseTree(x.unknown), parseTree(approved.after), parseTree(approved.unknown)):
		return "another value after"
	}
	return ""
}

func equal(a, b []byte) bool { return bytes.Equal(appendCanonical(nil, a), appendCanonical(nil, b)) }

// fits reports whether a value with its unknown parts is what was approved, but for parts that
// were unknown then.
func fits(after, unknown, approvedAfter, approvedUnknown *tree) bool {
	if approvedUnknown.isTrue() {
		return true
	}
	if unknown.isTrue() {
		return false
	}
	if !after.isContainer() && !approvedAfter.isContainer() && !unknown.isContainer() && !approvedUnknown.isContainer() {
		return after.isAbsent() && approvedAfter.isAbsent() ||
			!after.isAbsent() && !approvedAfter.isAbsent() && after.kind == approvedAfter.kind &&
				after.text == approvedAfter.text
	}
	if after.isAbsent() != approvedAfter.isAbsent() || !after.isAbsent() && after.kind != approvedAfter.kind {
		return false
	}
	seen := map[string]bool{}
	for _, part := range []*tree{after, unknown, approvedAfter, approvedUnknown} {
		if part == nil {
			continue
		}
		for name := range part.children {
			if !seen[name] && !fits(after.child(name), unknown.child(name), approvedAfter.child(name),
				approvedUnknown.child(name)) {
				return false
			}
			seen[name] = true
		}
	}
	return true
}

// keyOf names a child of an object or an array.
func keyOf(child jsonscan.Child) string {
	if child.Name != nil {
		return string(child.Name)
	}
	return strconv.Itoa(child.Index)
}
