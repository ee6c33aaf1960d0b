package changes

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// hclText writes a value of a given type in the language of the tools, as they show an output.
func hclText(value, typ *tree, indent int) string {
	switch {
	case value.isAbsent():
		return "null"
	case value.kind == '"':
		return string(jsonscan.AppendQuote(nil, value.text))
	case value.kind == 't':
		return "true"
	case value.kind == 'f':
		return "false"
	case !value.isContainer():
		return value.text
	}
	before, after := wrapper(typ)
	return before + containerText(value, typ, indent) + after
}

// wrapper is the function that makes a collection of its type.
func wrapper(typ *tree) (before, after string) {
	switch typ.child("0").textOf() {
	case "list":
		return "tolist(", ")"
	case "set":
		return "toset(", ")"
	case "map":
		return "tomap(", ")"
	}
	return "", ""
}

func (t *tree) textOf() string {
	if t == nil {
		return ""
	}
	return t.text
}

func containerText(value, typ *tree, indent int) string {
	opening, closing := string(value.kind), string(value.kind+2)
	if len(value.children) == 0 {
		return opening + closing
	}
	inner := strings.Repeat("  ", indent+1)
	var b strings.Builder
	b.WriteString(opening + "\n")
	for _, name := range namesInOrder(value) {
		b.WriteString(inner)
		if value.kind == '{' {
			b.WriteString(string(jsonscan.AppendQuote(nil, name)) + " = ")
		}
		b.WriteString(hclText(value.children[name], elementType(typ, name), indent+1))
		if value.kind == '[' {
			b.WriteString(",")
		}
		b.WriteString("\n")
	}
	b.WriteString(strings.Repeat("  ", indent) + closing)
	return b.String()
}

// elementType is the type of a part: collections have one for all, objects and tuples one for each.
func elementType(typ *tree, name string) *tree {
	of := typ.child("1")
	switch typ.child("0").textOf() {
	case "object", "tuple":
		return of.child(name)
	}
	return of
}

// namesInOrder are the names of members by the alphabet, or the indexes of elements by number.
func namesInOrder(value *tree) []string {
	if value.kind == '{' {
		return slices.Sorted(maps.Keys(value.children))
	}
	names := make([]string, len(value.children))
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}
