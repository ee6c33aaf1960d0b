package inventory

import (
	"encoding/json"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// matchAttributes compares as Query.Attributes says. Attributes that are no JSON object
// match nothing but an empty filter.
func matchAttributes(want map[string]string, attributes json.RawMessage) bool {
	if len(want) == 0 {
		return true
	}
	matched := make(map[string]bool, len(want))
	err := jsonscan.Object(attributes, jsonscan.Limits{}, func(key, value []byte) error {
		if text, wanted := want[string(key)]; wanted {
			matched[string(key)] = isSpelled(value, text)
		}
		return nil
	})
	for key := range want {
		if err != nil || !matched[key] {
			return false
		}
	}
	return true
}

// isSpelled reports whether a string has this text, or another value this JSON.
func isSpelled(value []byte, text string) bool {
	if unquoted, ok := jsonscan.Unquote(value); ok {
		return string(unquoted) == text
	}
	return string(value) == text
}
