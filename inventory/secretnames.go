package inventory

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// SecretNames are what the names of attributes have in them whose values are secrets: uploads have no marks of
// what is sensitive, as states do. The zero value finds none.
type SecretNames struct{ parts []string }

// NewSecretNames returns what has one of the parts in it, in any case and with any signs between: private_key,
// privateKey and Private-Key are one. Its error says that a part would be in all names.
func NewSecretNames(parts []string) (SecretNames, error) {
	var names SecretNames
	for _, part := range parts {
		plain := plainName(part)
		if plain == "" {
			return SecretNames{}, fmt.Errorf("%q has no letter or digit; it would be in all names", part)
		}
		names.parts = append(names.parts, plain)
	}
	return names, nil
}

// Match reports whether a value of this name is a secret.
func (n SecretNames) Match(name string) bool {
	name = plainName(name)
	return slices.ContainsFunc(n.parts, func(part string) bool { return strings.Contains(name, part) })
}

func plainName(name string) string {
	return strings.Map(func(c rune) rune {
		if !unicode.IsLetter(c) && !unicode.IsNumber(c) {
			return -1
		}
		return unicode.ToLower(c)
	}, name)
}
