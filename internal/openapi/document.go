package openapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Document is the whole description, as it is written to JSON.
type Document struct {
	OpenAPI    string              `json:"openapi"`
	Info       Info                `json:"info"`
	Servers    []Server            `json:"servers"`
	Tags       []Tag               `json:"tags"`
	Security   []map[string][]any  `json:"security,omitempty"`
	Paths      map[string]PathItem `json:"paths"`
	Components Components          `json:"components"`
}

// Info says what is described.
type Info struct {
	Title       string  `json:"title"`
	Description string  `json:"description"`
	Version     string  `json:"version"`
	License     License `json:"license"`
}

// License is that of the interface.
type License struct {
	Name       string `json:"name"`
	Identifier string `json:"identifier"`
}

// Server is where the interface is.
type Server struct {
	URL         string `json:"url"`
	Description string `json:"description,omitempty"`
}

// Tag is a group of operations.
type Tag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// PathItem has the operations of a path, by their methods in small letters. Methods that OpenAPI
// 3.1 has no place for stand under MoreMethods, as additionalOperations does in 3.2.
type PathItem map[string]any

// MoreMethods is the member of a PathItem with operations by methods such as LOCK.
const MoreMethods = "x-additionalOperations"

// Components are what others refer to.
type Components struct {
	Schemas         map[string]Schema        `json:"schemas"`
	SecuritySchemes map[string]Schema        `json:"securitySchemes"`
	Responses       map[string]responseOrRef `json:"responses"`
}

type operation struct {
	ID              string                   `json:"operationId"`
	Summary         string                   `json:"summary"`
	Description     string                   `json:"description,omitempty"`
	Tags            []string                 `json:"tags"`
	Security        []map[string][]string    `json:"security"`
	Parameters      []parameter              `json:"parameters,omitempty"`
	Body            *body                    `json:"requestBody,omitempty"`
	Responses       map[string]responseOrRef `json:"responses"`
	Rights          []string                 `json:"x-rights,omitempty"`
	OtherParameters bool                     `json:"x-other-parameters,omitempty"`
}

type parameter struct {
	Name        string `json:"name"`
	In          string `json:"in"`
	Description string `json:"description"`
	Required    bool   `json:"required,omitempty"`
	Style       string `json:"style,omitempty"`
	Explode     bool   `json:"explode,omitempty"`
	Schema      Schema `json:"schema"`
	Example     any    `json:"example,omitempty"`
}

type body struct {
	Description string             `json:"description,omitempty"`
	Required    bool               `json:"required"`
	Content     map[string]content `json:"content"`
}

type content struct {
	Schema   Schema             `json:"schema"`
	Examples map[string]Example `json:"examples,omitempty"`
}

type responseOrRef struct {
	Ref         string             `json:"$ref,omitempty"`
	Description string             `json:"description,omitempty"`
	Headers     map[string]header  `json:"headers,omitempty"`
	Content     map[string]content `json:"content,omitempty"`
}

type header struct {
	Description string `json:"description"`
	Schema      Schema `json:"schema"`
}

// Writer makes a document of operations.
type Writer struct {
	Types Types
	// Failure is the Go type of the body of a failure, which has the code under "code".
	Failure reflect.Type
}

// Add puts the operations into the document.
func (w *Writer) Add(d *Document, all []Operation) {
	d.OpenAPI = "3.1.1"
	d.Paths = map[string]PathItem{}
	d.Components.Responses = map[string]responseOrRef{}
	shared := sharedFailures(all)
	for _, op := range all {
		item := d.Paths[op.Path]
		if item == nil {
			item = PathItem{}
			d.Paths[op.Path] = item
		}
		made := w.operation(d, op, shared)
		if isMethod(op.Method) {
			item[strings.ToLower(op.Method)] = made
			continue
		}
		more, _ := item[MoreMethods].(map[string]operation)
		if more == nil {
			more = map[string]operation{}
			item[MoreMethods] = more
		}
		more[op.Method] = made
	}
	d.Components.Schemas = w.Types.made
}

// isMethod reports whether OpenAPI 3.1 has a place for a method.
func isMethod(method string) bool {
	return slices.Contains([]string{"GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"}, method)
}

func (w *Writer) operation(d *Document, op Operation, shared map[int]string) operation {
	made := operation{
		ID: op.ID, Summary: op.Summary, Description: op.Description, Tags: []string{op.Tag}, Rights: op.Rights,
		Security: []map[string][]string{}, Responses: map[string]responseOrRef{}, OtherParameters: op.OtherParameters,
	}
	for _, scheme := range op.Security {
		needs := map[string][]string{}
		for part := range strings.SplitSeq(scheme, "+") {
			needs[part] = []string{}
		}
		made.Security = append(made.Security, needs)
	}
	for _, p := range op.Parameters {
		one := parameter{Name: p.Name, In: p.In, Description: p.Description, Required: p.Required, Schema: p.Schema,
			Example: p.Example}
		if has(p.Schema, "additionalProperties") {
			one.Style, one.Explode = "form", true
		}
		made.Parameters = append(made.Parameters, one)
	}
	if op.Body != nil {
		made.Body = &body{Required: op.Body.Required, Content: w.contents(op.Body.Contents)}
		if op.Body.Strict {
			made.Body.Description = "A member that is not described is refused."
		}
	}
	for _, a := range op.Answers {
		made.Responses[strconv.Itoa(a.Status)] = w.answer(a, op.Method)
	}
	for _, f := range op.Failures {
		made.Responses[strconv.Itoa(f.Status)] = w.failure(d, f, op.Method, shared)
	}
	return made
}

func (w *Writer) answer(a Answer, method string) responseOrRef {
	said := responseOrRef{Description: a.Description}
	if said.Description == "" {
		said.Description = http.StatusText(a.Status)
	}
	if method != http.MethodHead {
		said.Content = w.contents(a.Contents)
	}
	for name, text := range a.Headers {
		if said.Headers == nil {
			said.Headers = map[string]header{}
		}
		said.Headers[name] = header{text, Of("string")}
	}
	return said
}

func (w *Writer) contents(all []Content) map[string]content {
	if len(all) == 0 {
		return nil
	}
	made := map[string]content{}
	for _, c := range all {
		one := content{Schema: c.Schema, Examples: c.Examples}
		switch {
		case c.Type != nil:
			one.Schema = w.Types.SchemaOf(c.Type)
		case c.Schema == nil && strings.HasPrefix(c.Media, "text/"):
			one.Schema = Of("string")
		case c.Schema == nil:
			one.Schema = Schema{}
		}
		if before, ok := made[c.Media]; ok { // one of several
			one.Schema = Schema{{"anyOf", append(alternatives(before.Schema), one.Schema)}}
			if one.Examples == nil {
				one.Examples = before.Examples
			}
		}
		made[c.Media] = one
	}
	return made
}

// alternatives are the schemas of which one must hold.
func alternatives(s Schema) []Schema {
	if len(s) == 1 && s[0].Name == "anyOf" {
		return slices.Clone(s[0].Value.([]Schema))
	}
	return []Schema{s}
}

// failure describes one status. What most operations have alike is a component.
func (w *Writer) failure(d *Document, f Failure, method string, shared map[int]string) responseOrRef {
	said := w.failureInFull(f)
	switch {
	case method == http.MethodHead:
		said.Content = nil
		return said
	case shared[f.Status] != failureKey(f):
		return said
	}
	name := "Failure" + strconv.Itoa(f.Status)
	d.Components.Responses[name] = said
	return responseOrRef{Ref: "#/components/responses/" + name}
}

func (w *Writer) failureInFull(f Failure) responseOrRef {
	said := responseOrRef{Description: http.StatusText(f.Status)}
	schemas := []Schema{}
	for _, other := range f.Instead {
		schemas = append(schemas, w.Types.SchemaOf(other))
	}
	if !f.Only {
		usual := w.Types.SchemaOf(w.Failure)
		code := Schema{{"code", Of("string").With("enum", f.Codes)}}
		schemas = append(schemas,
			Schema{{"allOf", []Schema{usual, Of("object").With("properties", code).With("required", []string{"code"})}}})
	}
	one := schemas[0]
	if len(schemas) > 1 {
		one = Schema{{"anyOf", schemas}}
	}
	said.Content = map[string]content{"application/json": {Schema: one}}
	return said
}

// sharedFailures is, for each status, the failure that most operations have, where those are several.
func sharedFailures(all []Operation) map[int]string {
	counts, most := map[string]int{}, map[int]string{}
	for _, op := range all {
		for _, f := range op.Failures {
			key := failureKey(f)
			counts[key]++
			if n := counts[key]; n > 4 && (n > counts[most[f.Status]] || n == counts[most[f.Status]] && key < most[f.Status]) {
				most[f.Status] = key
			}
		}
	}
	return most
}

func failureKey(f Failure) string {
	key := strconv.Itoa(f.Status)
	for _, t := range f.Instead {
		key += " " + t.Name()
	}
	if f.Only {
		key += " only"
	}
	return key + " " + strings.Join(f.Codes, " ")
}

// JSON is the document as a file has it.
func (d *Document) JSON() ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err := encoder.Encode(d)
	return text.Bytes(), err
}
