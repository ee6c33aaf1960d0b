package document

import "encoding/json"

// Diff says how one state became another. It is a plain value with a fixed order:
// resources by module, mode, type, name, key and deposed key, outputs by name. Its raw
// values share the memory of the two bodies.
type Diff struct {
	// Masked says that sensitive values are hidden: both sides read "(sensitive value)",
	// also where they differ. Such a Diff can't be applied.
	Masked           bool             `json:"masked"`
	Summary          Summary          `json:"summary"`
	TerraformVersion *Change          `json:"terraform_version,omitempty"`
	Lineage          *Change          `json:"lineage,omitempty"`
	Serial           *Change          `json:"serial,omitempty"`
	Providers        *ProviderChange  `json:"providers,omitempty"`
	Resources        []ResourceChange `json:"resources"`
	Outputs          []OutputChange   `json:"outputs"`
}

// Summary counts instances, deposed objects too. One that has moved and changed counts as
// both.
type Summary struct {
	Added   int `json:"added"`
	Changed int `json:"changed"`
	Removed int `json:"removed"`
	Moved   int `json:"moved"`
	Outputs int `json:"outputs"` // outputs that were added, changed or removed
}

// Empty reports whether the two states say the same.
func (d *Diff) Empty() bool {
	return d.Summary == Summary{} && d.TerraformVersion == nil && d.Lineage == nil && d.Serial == nil
}

// Change is a value before and after, as JSON; absent on a side where there is none.
type Change struct {
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
}

// ProviderChange lists providers, by source address such as
// registry.terraform.io/hashicorp/aws, that only one of the states uses.
type ProviderChange struct {
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

// Action is what happened to an instance or an output.
type Action string

// The actions. A moved instance may have changes too.
const (
	Added   Action = "added"
	Removed Action = "removed"
	Changed Action = "changed"
	Moved   Action = "moved"
)

// ResourceChange is what happened to one instance.
type ResourceChange struct {
	Action Action `json:"action"`
	Place
	// Previous is where a moved instance was.
	Previous *Place `json:"previous,omitempty"`
	// Fields are the changes outside of the attributes: status when the object was
	// tainted, provider, schema_version, dependencies and so on.
	Fields []FieldChange `json:"fields,omitempty"`
	// Attributes are in the order of their paths. An instance that was added or removed
	// has one change, with the empty path and all its attributes.
	Attributes []AttributeChange `json:"attributes,omitempty"`
}

// FieldChange is a change of one of an instance's fields.
type FieldChange struct {
	Field string `json:"field"` // the member's name in the state
	Change
}

// AttributeChange is a change of a value in the attributes: of a leaf, or of a whole value
// where one side has none or another kind.
type AttributeChange struct {
	// Path leads to the value. Elements of lists are counted in the list after, and in the one
	// before for an element that is gone. So what is left of the list before, in order, stands
	// in the places after in which nothing was added.
	Path Path `json:"path"`
	Change
	// Sensitive says that something in before or after is hidden.
	Sensitive bool `json:"sensitive,omitempty"`
	// Inside says how the JSON in two strings differs, by paths in it. Without it they hold
	// none, or they say the same and are written differently.
	Inside []AttributeChange `json:"inside,omitempty"`
}

// OutputChange is what happened to an output.
type OutputChange struct {
	Action Action       `json:"action"`
	Name   string       `json:"name"`
	Before *OutputValue `json:"before,omitempty"`
	After  *OutputValue `json:"after,omitempty"`
	// Changes says how the value differs, by paths in it. It is empty where one side has none or
	// hides it, and where before and after say as much.
	Changes []AttributeChange `json:"changes,omitempty"`
}

// OutputValue is an output on one side of a Diff.
type OutputValue struct {
	Value      json.RawMessage `json:"value"`
	Type       json.RawMessage `json:"type"`
	Sensitive  bool            `json:"sensitive,omitempty"`
	Deprecated string          `json:"deprecated,omitempty"`
}
