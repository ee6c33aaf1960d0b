package openapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the page
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
)

//go:embed page.html
var pageTemplate string

//go:embed page.css
var pageStyle string

// Page makes a page for people of a document in JSON: static, without scripts, with an anchor for
// each operation and each schema.
func Page(document string) ([]byte, error) {
	var d pageDocument
	if err := json.Unmarshal([]byte(document), &d); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	made, err := template.New("page").Funcs(template.FuncMap{"kind": kindOf, "lines": lines}).Parse(pageTemplate)
	if err != nil {
		return nil, fmt.Errorf("read the page's template: %w", err)
	}
	var text bytes.Buffer
	err = made.Execute(&text, map[string]any{
		"Info": d.Info, "Sections": d.sections(), "Schemas": d.schemas(), "Style": template.CSS(pageStyle),
		"Schemes": d.Components.SecuritySchemes,
	})
	return text.Bytes(), err
}

// PagePolicy is the Content-Security-Policy of the page: nothing but its own style.
func PagePolicy() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// pageDocument is what the page has of a Document.
type pageDocument struct {
	Info       Info
	Tags       []Tag
	Paths      map[string]map[string]json.RawMessage
	Components struct {
		Schemas         map[string]map[string]any
		SecuritySchemes map[string]struct{ Type, Scheme, Name, Description string }
		Responses       map[string]pageResponse
	}
}

type pageOperation struct {
	Method, Path         string
	OperationID          string
	Summary, Description string
	Tags                 []string
	Security             []map[string][]string
	Parameters           []struct {
		Name, In, Description string
		Required              bool
		Schema                any
	}
	RequestBody *struct {
		Required bool
		Content  map[string]pageContent
	}
	Responses map[string]pageResponse
	Rights    []string `json:"x-rights"`
}

type pageContent struct {
	Schema   any
	Examples map[string]struct {
		Summary string
		Value   json.RawMessage
	}
}

type pageResponse struct {
	Ref         string `json:"$ref"`
	Description string
	Content     map[string]pageContent
}

type pageSection struct {
	Tag
	Operations []pageOperation
}

// sections are the operations under their headings.
func (d *pageDocument) sections() (all []pageSection) {
	for _, tag := range d.Tags {
		one := pageSection{Tag: tag}
		for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
			one.Operations = append(one.Operations, d.operationsAt(path, tag.Name)...)
		}
		all = append(all, one)
	}
	return all
}

func (d *pageDocument) operationsAt(path, tag string) (all []pageOperation) {
	item := maps.Clone(d.Paths[path])
	var more map[string]json.RawMessage
	if json.Unmarshal(item[MoreMethods], &more) == nil {
		maps.Copy(item, more)
	}
	delete(item, MoreMethods)
	for _, method := range slices.Sorted(maps.Keys(item)) {
		var o pageOperation
		if json.Unmarshal(item[method], &o) != nil || !slices.Contains(o.Tags, tag) {
			continue
		}
		o.Method, o.Path = strings.ToUpper(method), path
		for status, said := range o.Responses {
			if name, ok := strings.CutPrefix(said.Ref, "#/components/responses/"); ok {
				o.Responses[status] = d.Components.Responses[name]
			}
		}
		all = append(all, o)
	}
	return all
}

type pageSchema struct {
	Name, Description string
	Kind              any
	Members           []pageMember
}

type pageMember struct {
	Name, Description string
	Required          bool
	Schema            any
}

func (d *pageDocument) schemas() (all []pageSchema) {
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		of := d.Components.Schemas[name]
		one := pageSchema{Name: name}
		one.Description, _ = of["description"].(string)
		required, _ := of["required"].([]any)
		members, _ := of["properties"].(map[string]any)
		if len(members) == 0 {
			one.Kind = of
		}
		for _, member := range slices.Sorted(maps.Keys(members)) {
			text := ""
			if schema, ok := members[member].(map[string]any); ok {
				text, _ = schema["description"].(string)
			}
			one.Members = append(one.Members, pageMember{member, text, slices.Contains(required, any(member)), members[member]})
		}
		all = append(all, one)
	}
	return all
}

// lines are those of a text.
func lines(text string) []string { return strings.Split(text, "\n") }

// kindOf says in a few words what a schema allows, with links to components.
func kindOf(schema any) template.HTML {
	s, _ := schema.(map[string]any)
	if ref, ok := s["$ref"].(string); ok {
		name := template.HTMLEscapeString(ref[strings.LastIndexByte(ref, '/')+1:])
		return template.HTML(`<a href="#schema-` + name + `">` + name + `</a>`)
	}
	if text, ok := s["const"]; ok {
		return words([]any{text})
	}
	if texts, ok := s["enum"].([]any); ok {
		return words(texts)
	}
	for _, of := range []string{"anyOf", "allOf"} {
		if all, ok := s[of].([]any); ok {
			return joined(all, map[string]string{"anyOf": " or ", "allOf": " with "}[of])
		}
	}
	switch kind := s["type"].(type) {
	case []any:
		return template.HTML(template.HTMLEscapeString(fmt.Sprint(kind[0]))) + " or null"
	case string:
		return ofKind(kind, s)
	}
	return "any JSON"
}

func ofKind(kind string, s map[string]any) template.HTML {
	switch members, _ := s["properties"].(map[string]any); {
	case kind == "array":
		return "list of " + kindOf(s["items"])
	case members["code"] != nil && len(members) == 1:
		return "code " + kindOf(members["code"])
	case kind == "object" && s["additionalProperties"] != nil && s["additionalProperties"] != true:
		return "object of " + kindOf(s["additionalProperties"])
	}
	if format, ok := s["format"].(string); ok && format != "int64" {
		return template.HTML(template.HTMLEscapeString(kind + ", " + format))
	}
	return template.HTML(template.HTMLEscapeString(kind))
}

func words(texts []any) template.HTML {
	var all []string
	for _, text := range texts {
		all = append(all, "<code>"+template.HTMLEscapeString(fmt.Sprint(text))+"</code>")
	}
	return template.HTML(strings.Join(all, " "))
}

func joined(all []any, by string) template.HTML {
	var parts []string
	for _, one := range all {
		parts = append(parts, string(kindOf(one)))
	}
	return template.HTML(strings.Join(parts, by))
}
