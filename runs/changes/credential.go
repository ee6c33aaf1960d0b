package changes

import (
	"slices"
	"strings"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// looksSecret goes by words in the name of a provider's setting.
func looksSecret(name []byte) bool {
	lower := strings.ToLower(string(name))
	return slices.ContainsFunc([]string{"pass", "secret", "token", "key", "credential", "private", "auth", "cert",
		"header"}, func(word string) bool {
		return strings.Contains(lower, word)
	})
}

// constants is what of a provider's configuration is called like a credential: marks that hide the
// constants there, at the value at hand.
func constants(c *jsonscan.Cursor, secret bool) (*marks, error) {
	m := &marks{}
	isObject := c.Kind() == '{'
	if !isObject && c.Kind() != '[' {
		_, err := c.Value()
		return nil, err
	}
	found := false
	err := c.Each(func(child jsonscan.Child) error {
		var inner *marks
		var err error
		switch {
		case isObject && string(child.Name) == "constant_value":
			if secret {
				inner = &marks{all: true}
			}
		default:
			inner, err = constants(c, secret || looksSecret(child.Name))
		}
		found = found || inner != nil
		if !isObject {
			m.indexes = append(m.indexes, inner)
		} else if inner != nil {
			m.put(child.Name, inner)
		}
		return err
	})
	if !found {
		m = nil
	}
	return m, err
}

// credentials are the marks of a provider's expressions.
func credentials(provider []byte) (expressions []byte, m *marks, err error) {
	expressions = member(provider, "expressions")
	if expressions == nil {
		return nil, nil, nil
	}
	m, err = constants(jsonscan.NewCursor(expressions, jsonscan.Limits{}), false)
	return expressions, m, err
}
