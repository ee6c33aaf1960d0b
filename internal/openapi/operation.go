// Package openapi writes the OpenAPI 3.1 description of an HTTP interface: of the operations that
// a table of routes has, and of the Go types that their bodies are of.
package openapi

import "reflect"

// Operation is what may be asked for at one address by one method.
type Operation struct {
	Method string
	// Path has its parameters in braces, as the document has them.
	Path string
	// ID is what generated code calls the operation. It never changes.
	ID  string
	Tag string
	// Summary is one line of plain text, Description what else there is to say.
	Summary, Description string
	Parameters           []Parameter
	// Body is nil where none is read.
	Body     *Body
	Answers  []Answer
	Failures []Failure
	// Rights are those of which the caller needs one or more, in words that a refusal names.
	Rights []string
	// Security has the names of the schemes of which one is needed; empty for nobody's.
	Security []string
	// OtherParameters says that further parameters in the query are the caller's own.
	OtherParameters bool
}

// Parameter is one part of an address, a query or a header.
type Parameter struct {
	Name, In, Description string
	Required              bool
	Schema                Schema
	// Example is a value that is accepted; nil for none.
	Example any
}

// Body is what a request sends.
type Body struct {
	Contents []Content
	Required bool
	// Strict says that a member which the type has not is refused.
	Strict bool
}

// Content is a body in one media type.
type Content struct {
	Media string
	// Type is the Go type of the JSON; nil for bytes that this package describes no further.
	Type reflect.Type
	// Schema describes what has no Go type; nil for text or bytes.
	Schema Schema
	// Examples by name.
	Examples map[string]Example
}

// Example is one body that was sent.
type Example struct {
	Summary string `json:"summary,omitempty"`
	Value   any    `json:"value"`
}

// Answer is one status that is no failure.
type Answer struct {
	Status      int
	Description string
	Contents    []Content // empty for no body
	Headers     map[string]string
}

// Failure is one status with the codes that come with it.
type Failure struct {
	Status int
	Codes  []string
	// Instead are types whose JSON may stand in place of the usual body.
	Instead []reflect.Type
	// Only says that the usual body never comes.
	Only bool
}
