package openapi

import (
	"strings"

	"github.com/holdfast/holdfast/internal/markup"
)

// kindOf says in a few words what a schema allows, with links to components.
func kindOf(schema any) markup.HTML {
	s, _ := schema.(map[string]any)
	if ref, ok := s["$ref"].(string); ok {
		name := ref[strings.LastIndexByte(ref, '/')+1:]
		return markup.Of(`<a href="#schema-%v">%v</a>`, name, name)
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
		return markup.Of("%v or null", kind[0])
	case string:
		return ofKind(kind, s)
	}
	return "any JSON"
}

func ofKind(kind string, s map[string]any) markup.HTML {
	switch members, _ := s["properties"].(map[string]any); {
	case kind == "array":
		return "list of " + kindOf(s["items"])
	case members["code"] != nil && len(members) == 1:
		return "code " + kindOf(members["code"])
	case kind == "object" && s["additionalProperties"] != nil && s["additionalProperties"] != true:
		return "object of " + kindOf(s["additionalProperties"])
	}
	if format, ok := s["format"].(string); ok && format != "int64" {
		return markup.Of("%v, %v", kind, format)
	}
	return markup.Of("%v", kind)
}

func words(texts []any) markup.HTML {
	var all []string
	for _, text := range texts {
		all = append(all, string(markup.Of("<code>%v</code>", text)))
	}
	return markup.HTML(strings.Join(all, " "))
}

func joined(all []any, by string) markup.HTML {
	var parts []string
	for _, one := range all {
		parts = append(parts, string(kindOf(one)))
	}
	return markup.HTML(strings.Join(parts, by))
}
