package openapi

import (
	"crypto/sha256"
	_ "embed" // for the page
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed page.css
var pageStyle string

// Page makes a page for people of a document in JSON: static, without scripts, with an anchor for
// each operation and each schema.
func Page(document string) ([]byte, error) {
	var d pageDocument
	if err := json.Unmarshal([]byte(document), &d); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	return []byte(d.html()), nil
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
