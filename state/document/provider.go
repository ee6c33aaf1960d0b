package document

import (
	"maps"
	"slices"
	"strings"
)

// Provider is the provider that an instance belongs to.
type Provider struct {
	Source string // such as registry.terraform.io/hashicorp/aws; empty before Terraform 0.13
	Name   string // its last part, such as aws
}

// Provider reads the instance's provider, which a state has as
// provider["registry.terraform.io/hashicorp/aws"].west, in a module with its address in
// front, and before Terraform 0.13 as provider.aws.west.
func (i *Instance) Provider() Provider {
	text := textOf(i.fields[FieldProvider])
	const quoted, legacy = `provider["`, "provider."
	if n := strings.LastIndex(text, quoted); n >= 0 {
		source, _, _ := strings.Cut(text[n+len(quoted):], `"`)
		return Provider{Source: source, Name: source[strings.LastIndexByte(source, '/')+1:]}
	}
	if n := strings.LastIndex(text, legacy); n >= 0 {
		name, _, _ := strings.Cut(text[n+len(legacy):], ".")
		return Provider{Name: name}
	}
	return Provider{}
}

func providerChange(a, b *Document) *ProviderChange {
	before, after := a.providers(), b.providers()
	c := ProviderChange{Added: without(after, before), Removed: without(before, after)}
	if len(c.Added)+len(c.Removed) == 0 {
		return nil
	}
	return &c
}

// providers returns the providers in use; one without a source under its name.
func (d *Document) providers() map[string]bool {
	seen, all := map[string]bool{}, map[string]bool{}
	for n := range d.Instances {
		i := &d.Instances[n]
		if raw := i.fields[FieldProvider]; raw == nil || seen[string(raw)] {
			continue
		}
		seen[string(i.fields[FieldProvider])] = true
		provider := i.Provider()
		if provider.Source == "" {
			provider.Source = provider.Name
		}
		all[provider.Source] = true
	}
	return all
}

func without(all, known map[string]bool) []string {
	var rest []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !known[name] {
			rest = append(rest, name)
		}
	}
	return rest
}
