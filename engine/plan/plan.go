// Package plan compares what a configuration says with what there is, and lists what to do about it. It
// changes nothing.
package plan

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/engine/eval"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/statefile"
)

// Action is what happens to an object.
type Action string

// The actions.
const (
	NoOp                Action = "no-op"
	Create              Action = "create"
	Update              Action = "update"
	DeleteThenCreate    Action = "delete-create"
	CreateBeforeDestroy Action = "create-delete"
	Delete              Action = "delete"
	Read                Action = "read"
	Forget              Action = "forget"
)

// Replaces reports whether an object is made anew.
func (a Action) Replaces() bool { return a == DeleteThenCreate || a == CreateBeforeDestroy }

// Options say how to plan.
type Options struct {
	Destroy     bool
	RefreshOnly bool
	NoRefresh   bool
	Targets     []addr.Resource
	Replace     []addr.Resource
	Parallelism int
	Imports     []Import
}

// Import says that an object exists already, beside the import blocks of the configuration.
type Import struct {
	To addr.Resource
	ID string
}

// Change is what happens to one object.
type Change struct {
	Address         addr.Resource
	Deposed         string
	Moved           string // from where, if it has another address now
	Imported        string // by which ID
	Provider        Resolved
	Action          Action
	Reason          string
	Before, After   cty.Value  // without marks; After has unknown values
	Sensitive       []cty.Path // of After
	PriorSensitive  []cty.Path // of Before, as it was recorded
	RequiresReplace []cty.Path
	Dependencies    []string // addresses in the configuration, all the way down

	Block  *config.Resource // nil for what the configuration doesn't have any more
	Scope  *eval.Scope
	Repeat eval.Repeat
	Schema *provider.Schema

	PriorPrivate, PlannedPrivate []byte
	CreateFirst                  bool
	Legacy                       bool
}

// Output is what happens to one output.
type Output struct {
	Name          string
	Action        Action
	Before, After cty.Value
	Sensitive     bool
}

// Plan is what to do.
type Plan struct {
	Root    *config.Module
	Inputs  map[string]cty.Value
	Options Options

	// Recorded is the state that was planned on, Prior the same with what reading the objects told. Absent
	// says that there has never been one, so that Recorded is an empty one.
	Recorded, Prior *statefile.File
	Absent          bool

	Changes []*Change
	Drift   []*Change // what was changed outside
	Outputs []Output

	registry *provider.Registry // of which JSON asks for schemas
}

// Count says how many objects are added, changed and destroyed.
func (p *Plan) Count() (add, change, destroy int) {
	for _, c := range p.Changes {
		switch c.Action {
		case Create:
			add++
		case Update:
			change++
		case Delete:
			destroy++
		case DeleteThenCreate, CreateBeforeDestroy:
			add++
			destroy++
		}
	}
	return add, change, destroy
}

// Imports is how many objects are taken over that exist already.
func (p *Plan) Imports() (n int) {
	for _, c := range p.Changes {
		if c.Imported != "" {
			n++
		}
	}
	return n
}

// Empty reports whether there is nothing to do, and nothing to record elsewhere than it is recorded now.
func (p *Plan) Empty() bool {
	if p.Options.RefreshOnly && len(p.Drift) > 0 {
		return false
	}
	for _, c := range p.Changes {
		if c.Action != NoOp || c.Moved != "" || c.Imported != "" {
			return false
		}
	}
	for _, o := range p.Outputs {
		if o.Action != NoOp {
			return false
		}
	}
	return true
}
