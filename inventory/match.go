package inventory

import "encoding/json"

// matchAttributes compares as Query.Attributes says. Attributes that are no JSON object
// match nothing but an empty filter.
func matchAttributes(want map[string]string, attributes json.RawMessage) bool {
	if len(want) == 0 {
		return true
	}
	var have map[string]json.RawMessage
	if err := json.Unmarshal(attributes, &have); err != nil {
		return false
	}
	for key, text := range want {
		value, ok := have[key]
		if !ok || spelling(value) != text {
			return false
		}
	}
	return true
}

// spelling is a string's text, or a value's JSON.
func spelling(value json.RawMessage) string {
	var text string
	if len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}
