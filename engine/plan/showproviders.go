package plan

import (
	"strings"

	"github.com/holdfast/holdfast/engine/provider"
)

// moduleProviders adds the providers that a module configures, and those that the root requires.
func (d *described) moduleProviders(at *place) {
	for key, p := range at.module.Providers {
		shown := d.describeProvider(at, p.Name)
		var block *provider.Block
		if source, err := Source(at.module, p.Name); err == nil {
			if schemas := d.registry.Known(source); schemas != nil {
				block = schemas.Provider.Block
			}
		}
		shown.Alias, shown.Module, shown.Expressions = p.Alias, at.path.Config(), expressions(p.Body, block)
		d.providers[at.providerKey(key)] = shown
	}
	for name := range at.module.Required {
		if at.above != nil {
			continue // what a called module requires and doesn't configure, it gets from its callers
		}
		if _, ok := d.providers[name]; !ok {
			d.providers[name] = d.describeProvider(at, name)
		}
	}
}

func (d *described) describeProvider(at *place, name string) providerJSON {
	shown := providerJSON{Name: name, Version: provider.Constraints(at.module.Required[name].Version)}
	if source, err := Source(at.module, name); err == nil {
		shown.FullName = source.String()
	}
	return shown
}

// providerOf is the key of the configuration that a name in a module means. What nobody configures or
// requires is added.
func (d *described) providerOf(at *place, name string) string {
	from, original := at, name
	for at.above != nil && at.module.Providers[name] == nil {
		if mapped, ok := at.call.Providers[name]; ok {
			name = mapped
		}
		at = at.above
	}
	key := at.providerKey(name)
	if _, ok := d.providers[key]; !ok {
		bare, alias, _ := strings.Cut(original, ".")
		shown := d.describeProvider(from, bare)
		shown.Alias, shown.Version = alias, ""
		d.providers[key] = shown
	}
	return key
}

func (at *place) providerKey(name string) string {
	if len(at.path) == 0 {
		return name
	}
	return at.path.Config() + ":" + name
}
