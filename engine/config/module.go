// Package config reads configurations: what is written, not yet what it means. Values come out of it when
// package eval evaluates the expressions.
package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/holdfast/holdfast/engine/addr"
)

// Module is one folder's configuration, with those it calls.
type Module struct {
	Dir    string // as it is opened
	Path   string // as path.module shows it, from the root's folder
	Parent *Module
	Files  []File // as they were read, in that order

	Workspace string // of the root module: what terraform.workspace is

	Variables map[string]*Variable
	Locals    map[string]*Local
	Outputs   map[string]*Output
	Resources map[string]*Resource // by type.name or data.type.name
	Calls     map[string]*Call
	Providers map[string]*Provider // by name or name.alias
	Required  map[string]Required  // by name
	Moved     []Moved
	Removed   []Removed
	Imports   []Import
	Backend   *Backend
}

// File is a file of a configuration.
type File struct {
	Name string // in its module's folder
	Text []byte
}

// Variable is an input.
type Variable struct {
	Name, Description string
	Type              cty.Type // cty.DynamicPseudoType if none is written
	Defaults          any      // for optional attributes
	Default           *cty.Value
	Sensitive         bool
	Nullable          bool
	Validations       []Check
	Range             hcl.Range
}

// Check is a condition with what to say if it doesn't hold.
type Check struct {
	Condition, Message hcl.Expression
	Range              hcl.Range
}

// Local is a value with a name.
type Local struct {
	Name  string
	Expr  hcl.Expression
	Range hcl.Range
}

// Output is what a module hands out.
type Output struct {
	Name, Description string
	Expr              hcl.Expression
	Sensitive         bool
	DependsOn         []hcl.Traversal
	Checks            []Check
	Range             hcl.Range
}

// Resource is a resource or data block.
type Resource struct {
	Data           bool
	Type, Name     string
	Count, ForEach hcl.Expression
	DependsOn      []hcl.Traversal
	Provider       string // its local name with its alias
	Body           hcl.Body
	Lifecycle      Lifecycle
	Range          hcl.Range
}

// Lifecycle is what stands in a lifecycle block.
type Lifecycle struct {
	CreateBeforeDestroy, PreventDestroy, IgnoreAll bool
	Ignore                                         []hcl.Traversal
	ReplaceTriggeredBy                             []hcl.Expression
	Preconditions, Postconditions                  []Check
}

// Address is the block's address in a module's instance.
func (r *Resource) Address(module addr.Module, key addr.Key) addr.Resource {
	return addr.Resource{Module: module, Data: r.Data, Type: r.Type, Name: r.Name, Key: key}
}

// Key is what Module.Resources has the block under.
func (r *Resource) Key() string { return r.Address(nil, nil).String() }

// Construct names the block in errors.
func (r *Resource) Construct() string {
	return (map[bool]string{true: "data", false: "resource"})[r.Data] + ` "` + r.Key() + `"`
}

// Call is a module block.
type Call struct {
	Name           string
	Source         string
	Count, ForEach hcl.Expression
	DependsOn      []hcl.Traversal
	Providers      map[string]string // the child's name to the caller's
	Body           hcl.Body
	Module         *Module
	Range          hcl.Range
}

// Local says whether the module is in a folder beside the one that calls it.
func (c *Call) Local() bool {
	return strings.HasPrefix(c.Source, "./") || strings.HasPrefix(c.Source, "../")
}

// Provider is a provider block.
type Provider struct {
	Name, Alias string
	Body        hcl.Body
	Range       hcl.Range
}

// Required says where a provider comes from.
type Required struct {
	Source, Version string
	Range           hcl.Range
}

// Moved says that something has a new address.
type Moved struct {
	From, To addr.Resource
	Range    hcl.Range
}

// Removed says that something is managed no more.
type Removed struct {
	From    addr.Resource
	Destroy bool
	Range   hcl.Range
}

// Import says that an object exists already.
type Import struct {
	To    addr.Resource
	ID    hcl.Expression
	Range hcl.Range
}

// Backend says where the state is.
type Backend struct {
	Type  string
	Body  hcl.Body
	Range hcl.Range
}

// SortedResources lists the blocks in the order of their addresses.
func (m *Module) SortedResources() []*Resource {
	all := make([]*Resource, 0, len(m.Resources))
	for _, key := range slices.Sorted(maps.Keys(m.Resources)) {
		all = append(all, m.Resources[key])
	}
	return all
}

// Child finds a module below this one by its path; nil if the configuration has none.
func (m *Module) Child(path addr.Module) *Module {
	for _, step := range path {
		call := m.Calls[step.Name]
		if call == nil {
			return nil
		}
		m = call.Module
	}
	return m
}
