package provider

import (
	"encoding/json"

	"github.com/zclconf/go-cty/cty"
)

// attributeJSON is an attribute as JSON has it: its type is there only if it has one of its own.
type attributeJSON struct {
	Type                                               *cty.Type   `json:",omitempty"`
	Nested                                             *NestedType `json:",omitempty"`
	Required, Optional, Computed, Sensitive, WriteOnly bool
}

// MarshalJSON implements json.Marshaler.
func (a *Attribute) MarshalJSON() ([]byte, error) {
	j := attributeJSON{nil, a.Nested, a.Required, a.Optional, a.Computed, a.Sensitive, a.WriteOnly}
	if a.Nested == nil {
		j.Type = &a.Type
	}
	return json.Marshal(j)
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *Attribute) UnmarshalJSON(text []byte) error {
	var j attributeJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	*a = Attribute{Nested: j.Nested, Required: j.Required, Optional: j.Optional, Computed: j.Computed,
		Sensitive: j.Sensitive, WriteOnly: j.WriteOnly}
	if j.Type != nil {
		a.Type = *j.Type
	}
	return nil
}
