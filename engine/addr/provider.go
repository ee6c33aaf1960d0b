package addr

import (
	"fmt"
	"strings"
)

// Provider is where a provider comes from: registry.opentofu.org/hashicorp/time.
type Provider struct{ Host, Namespace, Name string }

// DefaultHost is the registry of sources that name none.
const DefaultHost = "registry.opentofu.org"

// BuiltIn is the provider of terraform_data, which needs no program.
func BuiltIn() Provider { return Provider{"terraform.io", "builtin", "terraform"} }

// IsBuiltIn reports whether a provider is part of the engine, so that nothing has to be installed for it.
func (p Provider) IsBuiltIn() bool {
	return p.Host == BuiltIn().Host && p.Namespace == BuiltIn().Namespace
}

func (p Provider) String() string { return p.Host + "/" + p.Namespace + "/" + p.Name }

// InState is how states write it, with the alias of its configuration and the module that has it.
func (p Provider) InState(module, alias string) string {
	text := fmt.Sprintf("provider[%q]", p.String())
	if module != "" {
		text = module + "." + text
	}
	if alias != "" {
		text += "." + alias
	}
	return text
}

// ParseProvider reads a source: NAME, NAMESPACE/NAME or HOST/NAMESPACE/NAME.
func ParseProvider(source string) (Provider, error) {
	parts := strings.Split(source, "/")
	for _, part := range parts {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "\\ \x00") {
			return Provider{}, fmt.Errorf("%q is no source of a provider", source)
		}
	}
	switch len(parts) {
	case 1:
		return Provider{DefaultHost, "hashicorp", parts[0]}, nil
	case 2:
		return Provider{DefaultHost, parts[0], parts[1]}, nil
	case 3:
		return Provider{parts[0], parts[1], parts[2]}, nil
	}
	return Provider{}, fmt.Errorf("%q is no source of a provider", source)
}

// ParseProviderInState reads what InState writes.
func ParseProviderInState(text string) (p Provider, alias string, err error) {
	_, rest, ok := strings.Cut(text, `provider["`)
	source, rest, ok2 := strings.Cut(rest, `"]`)
	if !ok || !ok2 {
		return p, "", fmt.Errorf("%q names no provider", text)
	}
	p, err = ParseProvider(source)
	return p, strings.TrimPrefix(rest, "."), err
}

// ProviderName is the local name of the provider that a type belongs to by its prefix.
func ProviderName(typeName string) string {
	prefix, _, _ := strings.Cut(typeName, "_")
	return prefix
}
