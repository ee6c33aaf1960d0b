package document

import (
	"errors"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/jsonscan"
)

// Document is a state that was parsed. Its slices share the memory of the body, which
// must not change.
type Document struct {
	TerraformVersion string
	Lineage          string
	Serial           uint64
	Outputs          []Output   // by name
	Instances        []Instance // as compare orders their places; no two have the same
}

// Output is a value of the root module.
type Output struct {
	Name       string
	Value      []byte // JSON
	Type       []byte // the type's JSON, such as ["list","string"]
	Sensitive  bool
	Deprecated string // OpenTofu's message for who uses it
}

// Instance is one object of a resource: the current one of an instance, or a deposed one
// that waits for its end.
type Instance struct {
	Place
	// Attributes is a JSON object. With FieldFlat it is of strings, under the flattened
	// names of Terraform before 0.12.
	Attributes []byte

	fields [numFields][]byte
}

// Field returns a member other than the attributes as JSON; nil if it is absent or says
// no more than its absence would, as false and [] do.
func (i *Instance) Field(f Field) []byte { return i.fields[f] }

// Tainted reports whether the next apply would replace the object.
func (i *Instance) Tainted() bool { return string(i.fields[FieldStatus]) == `"tainted"` }

// Dependencies returns the addresses of the resources that this one needs.
func (i *Instance) Dependencies() []string {
	var all []string
	_ = jsonscan.Children(orNull(i.fields[FieldDependencies]), func(c jsonscan.Child) error {
		all = append(all, textOf(i.fields[FieldDependencies][c.Start:c.End]))
		return nil
	})
	return all
}

// unsupported is a body that is JSON, but not a state as the clients write it. The message
// shows where, never a value.
func unsupported(format string, args ...any) *fault.Error {
	return fault.New(fault.StateUnsupported, format, args...)
}

// textOf returns the text of a checked JSON string, and nothing for another value.
func textOf(raw []byte) string {
	text, _ := jsonscan.Unquote(raw)
	return string(text)
}

func orNull(raw []byte) []byte {
	if raw == nil {
		return []byte("null")
	}
	return raw
}

// inList adds to a fault in which element of a list it is.
func inList(err error, list string, index int) error {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return unsupported("%s[%d]: %s", list, index, e.Message)
	}
	return err
}
