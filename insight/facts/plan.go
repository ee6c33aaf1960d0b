package facts

import (
	"encoding/json"
	"slices"

	"github.com/holdfast/holdfast/runs/changes"
)

// Plan is what a plan's JSON says, as far as insight needs it. Sensitive values are masked.
type Plan struct {
	FormatVersion string
	ToolVersion   string
	Counts        changes.Counts
	Changes       []Change // in the tool's order, those that do nothing too
	Drift         []Change
	Outputs       []Output
	Variables     map[string]json.RawMessage
	Providers     map[string]Provider // by their name in the configuration
	Cut           bool                // whether a limit kept changes out
	Whole         []byte              // the whole JSON, masked; empty unless Limits ask for it
	Errored       bool                // whether planning failed, so that not all changes are there
	links         *links
}

// Change is what would happen to one resource instance.
type Change struct {
	Address  string
	Previous string // before it was moved
	Module   string
	Deposed  string
	Mode     string // managed, data
	Type     string
	Name     string
	Provider string
	Actions  []string
	Reason   string
	Because  []string // the attributes it is replaced because of
	Import   string   // the ID it is imported by
	Before   json.RawMessage
	After    json.RawMessage
	Unknown  json.RawMessage
}

// Output is what would happen to an output of the root module.
type Output struct {
	Name    string
	Actions []string
	After   json.RawMessage
}

// Provider is what the configuration says of a provider in plain values.
type Provider struct {
	FullName string
	Region   string
}

// The kinds of changes.
const (
	Create  = "create"
	Update  = "update"
	Replace = "replace"
	Delete  = "delete"
	Move    = "move"
	Import  = "import"
	Forget  = "forget"
	Read    = "read"
	NoOp    = "no-op"
)

// Kind is what a change does, in one word. One that does something and moves or imports besides
// is called after what it does.
func (c Change) Kind() string {
	switch {
	case changes.IsReplace(c.Actions):
		return Replace
	case len(c.Actions) == 1 && c.Actions[0] != changes.NoOp:
		return c.Actions[0]
	case slices.Contains(c.Actions, changes.Forget): // and creates
		return Forget
	case c.Import != "":
		return Import
	case c.Previous != "":
		return Move
	}
	return NoOp
}

// Does reports whether an apply does anything for the change.
func (c Change) Does() bool { return c.Kind() != NoOp }

// Stays reports whether the resource is there after an apply.
func (c Change) Stays() bool {
	return c.Mode != "data" && c.Deposed == "" && len(c.After) > 0 && string(c.After) != "null" && c.Kind() != Forget
}
