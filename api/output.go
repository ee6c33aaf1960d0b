package api

import "encoding/json"

// Outputs are the outputs of a state's newest version, by name.
type Outputs struct {
	Outputs map[string]Output `json:"outputs"`
}

// Output is one output. Its value and its type are as they stand in the state.
type Output struct {
	Value      json.RawMessage `json:"value"`
	Type       json.RawMessage `json:"type"`
	Sensitive  bool            `json:"sensitive"`
	Deprecated string          `json:"deprecated,omitempty"`
}
