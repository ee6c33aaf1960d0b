package resources

import (
	"slices"
	"strings"
)

// lookup returns an attribute's value.
type lookup func(name string) (value string, ok bool)

// ofState returns the traits of an object in a state. Everything that may tell it from
// others counts, because nobody knows which of it an upload has.
func (r *Rules) ofState(provider, typ string, value lookup) Traits {
	t := r.traits(provider)
	if !t.Counts {
		return t.Traits
	}
	canonical := r.canonical(t.family, typ)
	identity := r.identity(t.family, typ)
	for _, attribute := range identity {
		t.add(canonical, attribute, value, len(t.Lanes) == 0)
	}
	if name, ok := value(r.Name); ok && len(identity) > 0 {
		t.name(canonical, name)
	}
	return t.Traits
}

// ofUpload returns the traits of an uploaded object. Of what may tell it from others only
// the surest counts: where that is another one's, the rest is only like the other's.
func (r *Rules) ofUpload(provider, typ, name string, value lookup) Traits {
	t := r.traits(provider)
	if !t.Counts {
		return t.Traits
	}
	types := r.reported(t.family, provider, typ)
	for _, canonical := range types {
		for _, attribute := range r.identity(t.family, canonical) {
			if t.add(canonical, attribute, value, true) {
				break
			}
		}
	}
	if len(t.Lanes) > 0 {
		return t.Traits
	}
	if given, ok := value(r.Name); ok {
		name = given
	}
	for _, canonical := range types {
		t.name(canonical, name)
	}
	return t.Traits
}

// traits collects the traits of a resource.
type traits struct {
	Traits
	rules  *Rules
	family string
}

func (r *Rules) traits(provider string) *traits {
	t := &traits{rules: r, family: r.family(provider)}
	t.Counts = !slices.Contains(r.Virtual, t.family)
	return t
}

// add takes the value of an attribute that tells an object of this type, if it has one: as
// its identity if it is sure, else as a hint.
func (t *traits) add(canonical, attribute string, of lookup, sure bool) bool {
	value, ok := of(attribute)
	if !ok || value == "" {
		return false
	}
	value = t.spelled(value)
	mark := MarkOf("identity", t.family, canonical, attribute, value)
	if sure && !slices.Contains(t.rules.LocalIDs, t.family) {
		t.Identities = appendNew(t.Identities, mark)
	} else {
		t.Hints = appendNew(t.Hints, mark)
	}
	if slices.Contains(t.rules.Everywhere, attribute) {
		t.Everywhere = appendNew(t.Everywhere, MarkOf("everywhere", t.family, attribute, value))
	}
	t.Lanes = appendNew(t.Lanes, MarkOf("lane", t.family, canonical, attribute))
	return true
}

func (t *traits) name(canonical, name string) {
	if name != "" {
		t.Hints = appendNew(t.Hints, MarkOf("name", t.family, canonical, t.spelled(name)))
	}
}

func (t *traits) spelled(value string) string {
	if slices.Contains(t.rules.IgnoreCase, t.family) {
		return strings.ToLower(value)
	}
	return value
}

func appendNew(list []Mark, m Mark) []Mark {
	if slices.Contains(list, m) {
		return list
	}
	return append(list, m)
}
