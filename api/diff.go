package api

import "encoding/json"

// Diff says how one state became another.
type Diff struct {
	// Masked says that sensitive values are hidden: both sides read "(sensitive value)", also
	// where they differ.
	Masked           bool             `json:"masked"`
	TerraformVersion *Change          `json:"terraform_version,omitempty"`
	Lineage          *Change          `json:"lineage,omitempty"`
	Serial           *Change          `json:"serial,omitempty"`
	Providers        *ProviderChange  `json:"providers,omitempty"`
	Outputs          []OutputChange   `json:"outputs"`   // by name
	Resources        []ResourceChange `json:"resources"` // in the order of a state
	Summary          DiffSummary      `json:"summary"`
}

// DiffSummary counts instances, deposed objects too. One that has moved and changed counts as
// both.
type DiffSummary struct {
	Added   int `json:"added"`
	Changed int `json:"changed"`
	Removed int `json:"removed"`
	Moved   int `json:"moved"`
	Outputs int `json:"outputs"` // that were added, changed or removed
}

// Change is a value before and after; absent on a side where there is none.
type Change struct {
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
}

// ProviderChange lists providers, by source address, that only one of the states uses.
type ProviderChange struct {
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

// ResourceChange is what happened to one instance.
type ResourceChange struct {
	Action string `json:"action" enum:"added|removed|changed|moved"` // added, removed, changed or moved
	Instance
	Previous *Instance     `json:"previous,omitempty"` // where one that moved was
	Fields   []FieldChange `json:"fields,omitempty"`   // changes outside of the attributes
	// Attributes are in the order of their paths. An instance that was added or removed has
	// one change, with the empty path and all its attributes.
	Attributes []AttributeChange `json:"attributes,omitempty"`
}

// Instance says which object of a state it is.
type Instance struct {
	Address string          `json:"address"`                  // as the clients print it
	Module  string          `json:"module,omitempty"`         // absent for the root module
	Mode    string          `json:"mode" enum:"ResourceMode"` // managed or data
	Type    string          `json:"type"`
	Name    string          `json:"name"`
	Key     json.RawMessage `json:"index_key,omitempty" schema:"number|string"` // a number or a string; absent without one
	Deposed string          `json:"deposed,omitempty"`                          // key of a deposed object
}

// FieldChange is a change of one of an instance's fields.
type FieldChange struct {
	Field string `json:"field"` // the member's name in the state
	Change
}

// AttributeChange is a change of a value in the attributes.
type AttributeChange struct {
	// Path leads to the value: a string for a member of an object, a number for an element of
	// a list, counted from zero in the list after, or in the list before for one that is gone.
	Path []json.RawMessage `json:"path" schema:"number|string"`
	Change
	Sensitive bool `json:"sensitive,omitempty"` // something in before or after is hidden
	// Inside says how the JSON in two strings differs, by paths in it.
	Inside []AttributeChange `json:"inside,omitempty"`
}

// OutputChange is what happened to an output.
type OutputChange struct {
	Action string       `json:"action" enum:"added|removed|changed"` // added, removed or changed
	Name   string       `json:"name"`
	Before *OutputValue `json:"before,omitempty"`
	After  *OutputValue `json:"after,omitempty"`
	// Changes says how the value differs, by paths in it, where that is less than the whole.
	Changes []AttributeChange `json:"changes,omitempty"`
}

// OutputValue is an output on one side of a Diff.
type OutputValue struct {
	Value      json.RawMessage `json:"value"`
	Type       json.RawMessage `json:"type"`
	Sensitive  bool            `json:"sensitive,omitempty"`
	Deprecated string          `json:"deprecated,omitempty"`
}
