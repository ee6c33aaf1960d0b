package resources

import (
	"iter"
	"strings"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/document"
)

// ofDocument yields the resources of a state, one at a time: a state with many of them
// costs no more than its own bytes.
func (r *Rules) ofDocument(name state.Name, version state.Version, d *document.Document) iter.Seq[Resource] {
	return func(yield func(Resource) bool) {
		for n := range d.Instances {
			if i := &d.Instances[n]; len(i.Place.String()) <= maxAddress && !yield(r.ofInstance(name, version, i)) {
				return
			}
		}
	}
}

func (r *Rules) ofInstance(name state.Name, version state.Version, i *document.Instance) Resource {
	var attributes, tags pairs
	for attribute, value := range i.Scalars() {
		attributes.add(strings.Clone(attribute), strings.Clone(value))
	}
	for tag, value := range i.Tags() {
		tags.add(strings.Clone(tag), strings.Clone(value))
	}
	one := Resource{
		Place: Place{Source: FromState, State: name, Address: i.Place.String()},
		Type:  i.Type, Provider: providerOf(i), Mode: i.Mode, Module: i.Module, Name: i.Name, Deposed: i.Deposed,
		Version: version.Number, At: version.CreatedAt,
		Attributes: attributes.list, Tags: tags.list,
	}
	if key, err := i.Key.MarshalJSON(); err == nil && string(key) != "null" {
		one.Key = string(key)
	}
	if i.Mode == "managed" && i.Deposed == "" {
		one.Traits = r.ofState(one.Provider, i.Type, i.Attribute)
	}
	return one
}

// providerOf is, for a resource that names none, what the clients take: the first part of
// its type's name.
func providerOf(i *document.Instance) string {
	if name := i.Provider().Name; name != "" {
		return name
	}
	first, _, _ := strings.Cut(i.Type, "_")
	return first
}
